/** The secret of an issuer at its external authorization server, sealed with the key of the wallet. */
import type { Selectable } from 'kysely'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { ExternalServer } from './external-server.ts'

type Row = Pick<
  Selectable<AgentTables['credential_issuer']>,
  'id' | 'authorization_server' | 'client_id' | 'client_secret'
>

const contextOf = (id: string) => `credential-issuer:${id}`

export function sealSecret(wallet: Wallet, id: string, secret: string): string {
  return wallet.seal(contextOf(id), secret)
}

/** The external authorization server of an issuer that has one. */
export function externalServerOf(
  wallet: Wallet,
  { id, authorization_server: url, client_id: clientId, client_secret: secret }: Row,
): ExternalServer {
  if (url === null || clientId === null || secret === null)
    throw new Error(`the issuer ${id} has no external authorization server`)
  return { url, clientId, clientSecret: wallet.unseal(contextOf(id), secret) }
}
