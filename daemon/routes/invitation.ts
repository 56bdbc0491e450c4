/** `/invitation`: the page of an invitation's link, and reading an invitation before it is accepted. */
import * as z from 'zod'
import { Problem } from '../../src/foundation/problem.ts'
import { OutOfBandInvitation, parseInvitation } from '../../src/exchange/didcomm/invitation.ts'
import { Challenge } from '../../src/exchange/enterprise/authentication.ts'
import { DidRequest } from '../../src/exchange/enterprise/onboarding.ts'
import { findShortUrl } from '../../src/foundation/net/short-url.ts'
import { invitationText } from '../../src/exchange/protocols/model.ts'
import { purposeIn, toInvitation } from '../../src/exchange/protocols/out-of-band.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { pageMedia, replyInForm } from '../pages/reply.ts'
import { route } from '../http/route.ts'
import { toInvitationLink } from './_invitation-link.ts'

const InvitationContent = z
  .object({
    purpose: z.enum(['connection', 'offer', 'request', 'did-request', 'challenge']),
    invitation: OutOfBandInvitation.optional(),
    oob: z.string().optional().describe('The invitation in the form that the endpoints accept.'),
    didRequest: DidRequest.optional(),
    challenge: Challenge.optional(),
  })
  .meta({ id: 'InvitationContent' })

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

  route(
    'POST /invitation',
    {
      summary: 'Read an invitation, a DID request or a challenge of another agent without answering it',
      operationId: 'readInvitation',
      extension: true,
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      body: z.object({ invitation: invitationText }).meta({ id: 'ReadInvitationRequest' }),
      reply: [200, InvitationContent],
    },
    ({ wallet }, { body }) => readContent(wallet, body.invitation),
  ),
] as const

/** Retrieves the content of a short URL, or decodes that of a long one. */
async function readContent(wallet: Wallet, text: string): Promise<z.input<typeof InvitationContent>> {
  const url = findShortUrl(text)
  const document = url && (await wallet.env.retrieve(url))
  const [didRequest, challenge] = [DidRequest.safeParse(document), Challenge.safeParse(document)]
  if (didRequest.success) return { purpose: 'did-request', didRequest: didRequest.data }
  if (challenge.success) return { purpose: 'challenge', challenge: challenge.data }
  const { invitation, oob } = url ? toInvitation(document, url) : parseInvitation(text)
  return { purpose: purposeIn(invitation) ?? 'connection', invitation, oob }
}

/** The invitation in a request target. As in wallets, a `+` is not decoded to a space. */
function readLink(target: string): ReturnType<typeof parseInvitation> {
  if (/[?&]_oob=/.test(target)) return parseInvitation(target)
  throw new Problem(
    'error:ConnectionServiceError:InvitationParsingError',
    'The invitation cannot be read: the link has no _oob parameter.',
  )
}
