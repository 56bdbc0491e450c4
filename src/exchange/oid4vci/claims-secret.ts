/** The secret of an issuer, which signs the requests to the claims sources of its configurations. */
import { type RenewedSecret, renew, Secrets } from '../../wallet/events/signature.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getOwnIssuer, type IssuerRow } from './issuers.ts'

const contextOf = (issuerId: string) => `credential-issuer-secrets:${issuerId}`

/** Replaces the secret of an issuer. The one before signs too, until `until`. @throws {Problem} 404 */
export function renewClaimsSecret(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuerId: string,
  until: Date,
): Promise<RenewedSecret> {
  return db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, wallet.id)
    const issuer = await getOwnIssuer(tx, wallet.id, issuerId)
    const { secrets, renewed } = renew(claimsSecretsOf(wallet, issuer), until)
    const sealed = wallet.seal(contextOf(issuerId), JSON.stringify(secrets))
    const own = tx.updateTable('credential_issuer').set({ claims_secrets: sealed })
    await own.where('id', '=', issuerId).execute()
    return renewed
  })
}

/** The secrets of an issuer. Undefined: it has none yet. */
export function claimsSecretsOf(
  wallet: Pick<Wallet, 'unsealCached'>,
  { id, claims_secrets: sealed }: Pick<IssuerRow, 'id' | 'claims_secrets'>,
): Secrets | undefined {
  if (sealed === null) return undefined
  return wallet.unsealCached(contextOf(id), sealed, (text) => Secrets.parse(JSON.parse(text)))
}
