/**
 * Wallet tokens: the last part of a public URL, from which the agent finds the wallet that the URL belongs
 * to.
 *
 * A token is the wallet id, sealed with a key of the agent. So the agent needs no table to find the wallet,
 * only the agent can make a token, and two tokens of one wallet cannot be linked. Tokens are 55 characters of
 * base58: they are part of QR codes, and some DIDComm libraries do not accept `-` and `_` in a peer DID's
 * service.
 *
 * After the import of a wallet, the tokens that its previous agent made are rows of `wallet_alias`.
 */
import { fromHex, toHex } from '../foundation/bytes.ts'
import { deriveSealKey, sealToken, unsealToken } from '../foundation/seal.ts'
import type { AgentTables } from '../foundation/storage/agent-tables.ts'
import type { AgentDb } from '../foundation/storage/database.ts'

/**
 * The URL that a token is part of: DIDComm address, status list, list of revoked certificates, DID request
 * link, challenge link, OpenID4VP request of an earlier release.
 */
export type TokenKind = Exclude<AliasKind, 'short-link'> | 'presentation'
type AliasKind = AgentTables['wallet_alias']['kind']

export type WalletTokens = {
  /** Makes a token for a wallet. Every call returns a different one. */
  create(kind: TokenKind, walletId: string): string
  /** The wallet id that a token was made for, here or by the previous agent of an imported wallet. */
  findWalletId(kind: TokenKind, token: string): Promise<string | undefined>
  /** The wallet that a token belongs to which the previous agent of the wallet made. */
  findAlias(kind: AliasKind, token: string): Promise<string | undefined>
  /**
   * Must be called before rows are inserted into `wallet_alias`: without imported wallets the table is not
   * queried.
   */
  expectAliases(): void
}

const longestToken = 100

/** Words that a common peer library replaces anywhere in the service block of a peer DID. */
const replacedWords = /type|accept|routingKeys|serviceEndpoint|DIDCommMessaging/

/** The keys are derived from the agent key. `isShared`: other processes write to the database. */
export async function createWalletTokens(
  agentKey: Uint8Array,
  db: AgentDb,
  { isShared = false } = {},
): Promise<WalletTokens> {
  const enterpriseKey = deriveSealKey(agentKey, 'enterprise-submissions')
  const keys: Readonly<Record<TokenKind, Uint8Array>> = {
    mailbox: deriveSealKey(agentKey, 'mailboxes'),
    'status-list': deriveSealKey(agentKey, 'status-lists'),
    crl: deriveSealKey(agentKey, 'certificate-revocation-lists'),
    onboard: enterpriseKey,
    authenticate: enterpriseKey,
    presentation: deriveSealKey(agentKey, 'presentations'),
  }
  const firstAlias = await db.selectFrom('wallet_alias').select('token').limit(1).executeTakeFirst()
  // Another process may import a wallet at any time.
  let hasAliases = isShared || firstAlias !== undefined
  const findAlias = async (kind: AliasKind, token: string) => {
    if (!hasAliases || token === '' || token.length > longestToken) return undefined
    const aliases = db.selectFrom('wallet_alias').select('wallet_id').where('token', '=', token)
    return (await aliases.where('kind', '=', kind).executeTakeFirst())?.wallet_id
  }
  return {
    findAlias,
    create: (kind, walletId) => newWalletToken(keys[kind], kind, walletId),
    async findWalletId(kind, token) {
      const bytes = unsealToken(keys[kind], kind, token)
      if (bytes?.length === 16) return toUuid(bytes)
      // Requests end before a wallet has moved.
      return kind === 'presentation' ? undefined : findAlias(kind, token)
    },
    expectAliases: () => void (hasAliases = true),
  }
}

export function newWalletToken(key: Uint8Array, kind: TokenKind, walletId: string): string {
  for (;;) {
    const token = sealToken(key, kind, fromHex(walletId.replaceAll('-', '')))
    if (!replacedWords.test(token)) return token
  }
}

function toUuid(bytes: Uint8Array): string {
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
