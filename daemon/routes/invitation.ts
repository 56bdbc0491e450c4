/** `/invitation`: the page of an invitation's link. */
import * as z from 'zod'
import { Problem } from '../../src/base/problem.ts'
import { OutOfBandInvitation, parseInvitation } from '../../src/didcomm/invitation.ts'
import { invitationPage } from '../pages/invitation.ts'
import { replyInForm, pageMedia } from '../pages/page.ts'
import { route } from '../http/route.ts'

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
      reply: [200, OutOfBandInvitation.meta({ id: 'OutOfBandInvitation' })],
    },
    ({ agent }, { target, accepts }) =>
      replyInForm(accepts, {
        read: () => Promise.resolve(target).then(readLink),
        toJson: ({ invitation }) => invitation,
        toPage: (read) => invitationPage({ ...read, base: `${agent.env.urls.rest}/invitation` }),
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
