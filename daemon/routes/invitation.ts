/** `/invitation`: the page of an invitation's link, and reading an invitation before it is accepted. */
import * as z from 'zod'
import { GivenChallenge, purposes, readIncoming } from '../../src/agent/incoming.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { OutOfBandInvitation, parseInvitation } from '../../src/exchange/didcomm/invitation.ts'
import { DidRequest } from '../../src/exchange/enterprise/onboarding.ts'
import { pageMedia, replyInForm } from '../pages/reply.ts'
import { route } from '../http/route.ts'
import { toInvitationLink } from './_invitation-link.ts'

const InvitationContent = z
  .object({
    purpose: z.enum(purposes),
    answer: z
      .object({
        method: z.string(),
        path: z.string(),
        body: z.looseObject({}).describe('Its member is what was read; the operation has more members.'),
      })
      .describe('The operation that answers it.'),
    sender: z
      .object({
        name: z.string().optional().describe('What the sender calls itself. It is not verified.'),
        address: z.string().optional().describe('The host that gets the answer, or has the request.'),
      })
      .describe('Who asks.'),
    goal: z.string().optional(),
    expiresAt: z.iso.datetime().optional(),
    invitation: OutOfBandInvitation.optional(),
    oob: z.string().optional().describe('The invitation in the form that the endpoints accept.'),
    didRequest: DidRequest.optional(),
    challenge: GivenChallenge.optional(),
  })
  .meta({ id: 'InvitationContent' })

/** Twice the longest request, since a text can be nested in JSON. */
const maxLength = 400_000

const ReadInvitationRequest = z
  .object({
    invitation: z
      .string()
      .min(1)
      .max(maxLength)
      .describe(
        'An invitation, a DID request, a challenge, an offer of OpenID4VCI or a request of OpenID4VP: its URL, its short URL, its JSON, or the value of `_oob`.',
      ),
  })
  .meta({ id: 'ReadInvitationRequest' })

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
      summary: 'Read what another agent asks, of any kind, without answering it',
      operationId: 'readInvitation',
      extension: true,
      access: 'tenant',
      scopes: ['issuer', 'holder', 'verifier'],
      body: ReadInvitationRequest,
      reply: [200, InvitationContent],
    },
    ({ wallet }, { body }) => readIncoming(wallet, body.invitation),
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
