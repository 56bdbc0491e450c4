/** `/invitation`: the page of an invitation's link. */
import * as z from 'zod'
import { Problem } from '../../src/base/problem.ts'
import { OutOfBandInvitation, parseInvitation } from '../../src/didcomm/invitation.ts'
import { pageMedia, replyInForm } from '../pages/reply.ts'
import { route } from '../http/route.ts'
import { toInvitationLink } from './_invitation-link.ts'

export default [
  route(
    'GET /invitation',
    {
      summary: 'Read an invitation from its link; a page in a browser',
      operationId: 'getInvitation',
      extension: true,
      access: 'public',
      query: z.object({
        _oob: z.unknown().optional().meta({ type: 'string', description: 'The invitation, base64url.' }),
      }),
      media: pageMedia,
      reply: [200, OutOfBandInvitation],
    },
    ({ agent }, { target, ...input }) =>
      replyInForm(input, {
        read: () => Promise.resolve(target).then(readLink),
        toJson: ({ invitation }) => invitation,
        toPage: (read, { invitationPage }, texts) =>
          invitationPage(texts, toInvitationLink(read, agent.env.urls.rest)),
      }),
  ),
] as const

/** The invitation in a request target. As in wallets, a `+` is not decoded to a space. */
function readLink(target: string): ReturnType<typeof parseInvitation> {
  if (/[?&]_oob=/.test(target)) return parseInvitation(target)
  throw new Problem(
    'error:ConnectionServiceError:InvitationParsingError',
    'The invitation cannot be read: the link has no _oob parameter.',
  )
}
