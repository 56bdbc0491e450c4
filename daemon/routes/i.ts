/**
 * `/i`: short links to invitations, DID requests and challenges (DIDComm Out-of-Band 2.0, "Short URL Message
 * Retrieval").
 */
import * as z from 'zod'
import { OutOfBandInvitation } from '../../src/exchange/didcomm/invitation.ts'
import { LinkedChallenge } from '../../src/exchange/enterprise/authentication.ts'
import { LinkedDidRequest } from '../../src/exchange/enterprise/onboarding.ts'
import { documentOf, getShortLinkContent, type ShortLinkContent } from '../../src/agent/short-link-content.ts'
import { toShortUrl } from '../../src/wallet/short-links.ts'
import { route } from '../http/route.ts'
import { livePage, replyLive, type Page, type Texts, type Views } from '../pages/reply.ts'
import { toInvitationLink } from './_invitation-link.ts'

export default [
  route(
    'GET /i',
    {
      summary: 'Retrieve the invitation, DID request or challenge of a short URL; a page in a browser',
      operationId: 'getShortUrl',
      extension: true,
      access: 'public',
      perAddress: 'SHORT_URL_REQUESTS_PER_MINUTE',
      query: z.object({
        _oobid: z.unknown().optional().meta({ type: 'string', description: 'The id of the short URL.' }),
      }),
      ...livePage,
      reply: [
        200,
        z.union([OutOfBandInvitation, LinkedDidRequest, LinkedChallenge]).meta({ id: 'ShortUrlContent' }),
      ],
    },
    ({ agent }, { query: { _oobid: id }, ...input }) =>
      replyLive(agent.notifier, input, {
        read: () => getShortLinkContent(agent, String(id)),
        toJson: documentOf,
        toPage: (content, views, texts) => toPage(content, agent.env.urls.rest, String(id), views, texts),
        watch: (content) => content,
      }),
  ),
] as const

function toPage(content: ShortLinkContent, base: string, id: string, views: Views, texts: Texts): Page {
  const shortUrl = toShortUrl(base, id)
  if (content.kind === 'invitation') {
    const { endsAt } = content
    return views.invitationPage(texts, { ...toInvitationLink(content, base), endsAt, shortUrl })
  }
  const link = {
    endsAt: new Date(content.session.expire_at),
    staleAfterMs: content.remainingMs,
    shortUrl,
    authorizationRequest: content.state.openid4vp?.authorizationRequest,
  }
  return content.kind === 'challenge'
    ? views.challengePage(texts, content.state.challenge, link)
    : views.didRequestPage(texts, content.state.didRequest, link)
}
