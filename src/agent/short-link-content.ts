/**
 * What short links return: an invitation, a DID request or an authentication challenge, while it can be
 * answered.
 */
import type { Agent } from './agent.ts'
import { Problem } from '../foundation/problem.ts'
import { challenges, type ChallengeState } from '../exchange/enterprise/authentication.ts'
import { withRequest } from '../exchange/enterprise/model.ts'
import { didRequests, type DidRequestState } from '../exchange/enterprise/onboarding.ts'
import {
  findSessionOfShortLink,
  remainingMs,
  requireOpen,
  type Session,
} from '../exchange/enterprise/session.ts'
import { findInvitation, type LinkedInvitation } from '../exchange/short-link.ts'
import type { ChangeTopic } from '../foundation/storage/tx-context.ts'
import { retrieveShortUrl } from '../foundation/net/short-url.ts'
import { NotOwnerError } from '../foundation/storage/not-owner-error.ts'
import { unlessDeleted } from '../foundation/storage/transferred.ts'
import type { Environment } from '../wallet/environment.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** The content, and what closes the link: a change of `topic`, or the time. */
export type ShortLinkContent = { walletId: string; topic: ChangeTopic; remainingMs: number } & (
  | ({ kind: 'invitation' } & LinkedInvitation)
  | { kind: 'did-request'; session: Session; state: DidRequestState }
  | { kind: 'challenge'; session: Session; state: ChallengeState }
)

/**
 * The content of a short link of this agent.
 *
 * @throws {Problem} 404 for an id that this agent did not make, and for one of a deleted wallet; 410 when the
 * invitation was answered or withdrawn, or has expired; 503 for a wallet that was transferred.
 */
export async function getShortLinkContent(
  { env, wallets }: Pick<Agent, 'env' | 'wallets'>,
  id: string,
): Promise<ShortLinkContent> {
  const walletId = await env.shortLinks.findWalletId(id)
  if (walletId === undefined) throw linkUnknown()
  return unlessDeleted(
    wallets.use(walletId, (wallet) => read(wallet, id)),
    linkUnknown,
  )
}

/** The document that others retrieve. */
export function documentOf(content: ShortLinkContent): object {
  switch (content.kind) {
    case 'invitation':
      return content.invitation
    case 'did-request':
      return withRequest(content.state.didRequest, content.state.openid4vp)
    case 'challenge':
      return withRequest(content.state.challenge, content.state.openid4vp)
  }
}

async function read(wallet: Wallet, id: string): Promise<ShortLinkContent> {
  const base = wallet.env.urls.rest
  const [linked, found] = await Promise.all([
    findInvitation(wallet, id),
    findSessionOfShortLink(wallet.db, id),
  ])
  if (linked?.isOpen) {
    const remainingMs = linked.endsAt.getTime() - Date.now()
    return {
      kind: 'invitation',
      walletId: wallet.id,
      topic: `record ${linked.recordId}`,
      remainingMs,
      ...linked,
    }
  }
  // The id is this wallet's, so an invitation without a record was withdrawn.
  if (!found) throw linkClosed()
  const watched = {
    walletId: wallet.id,
    topic: `session ${found.id}`,
    remainingMs: remainingMs(found),
  } as const
  if (found.product === 'onboard') {
    const session = requireOpen(didRequests, found)
    return { kind: 'did-request', ...watched, session, state: didRequests.toState(session, base) }
  }
  const session = requireOpen(challenges, found)
  return { kind: 'challenge', ...watched, session, state: challenges.toState(session, base) }
}

/**
 * `retrieve` of the environment. A link of this agent needs no request, which a proxy in front of the agent
 * may not let through.
 */
export function createRetrieval(env: Environment, wallets: Agent['wallets']): Environment['retrieve'] {
  const own = `${env.urls.rest}/i`
  const { http } = env
  const read = async (id: string) => documentOf(await getShortLinkContent({ env, wallets }, id))
  return async (url) => {
    if (url.origin + url.pathname !== own) return retrieveShortUrl(url, { http })
    try {
      return await retrieveShortUrl(url, { http, read })
    } catch (error) {
      // The process that owns the wallet answers at the public address.
      if (error instanceof Problem && error.cause instanceof NotOwnerError)
        return retrieveShortUrl(url, { http })
      throw error
    }
  }
}

function linkUnknown(): Problem {
  return new Problem(
    'error:ShortLinkError:LinkNotFound',
    'This agent did not issue the link. Use the short URL as it was given.',
  )
}

function linkClosed(): Problem {
  const detail = 'The invitation was used or withdrawn, or it has expired. Ask for a new one.'
  return new Problem('error:ShortLinkError:LinkClosed', detail)
}
