/** The credential of a record, made in its format (wire.md 4.4, 4.5; api.md 4.7). */
import type { CredentialStatus } from '../../credentials/credential.ts'
import { issueJwtVc } from '../../credentials/jwt-vc.ts'
import { anyCredential, issueSdJwt } from '../../credentials/sd-jwt/sd-jwt.ts'
import type { PublicJwk } from '../../crypto/keys.ts'
import { getOwnDid } from '../../did-registrar/dids.ts'
import { getSigningKey } from '../../did-registrar/keys.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialFormat } from '../formats.ts'
import type { CredentialRecord } from './model.ts'

/** What a record says of a credential once its holder has proved itself. */
type Signed = CredentialRecord & { issuingDID: string; holderDid: string }

/** Signs what a record says. Returns the compact form. @throws {Problem} as `getSigningKey`. */
export async function signCredential(wallet: Wallet, record: Signed, credentialStatus: CredentialStatus): Promise<string> {
  const { credentialFormat, issuingDID, issuingKid, holderDid, holderKey, claims, schemaIds: schemas, validityPeriod } = record
  const { did, longForm, status } = await getOwnDid(wallet.db, issuingDID)
  const { keyId, privateJwk: issuerKey } = await getIssuerKey(wallet, { credentialFormat, issuingDID, issuingKid })
  // While nobody else can resolve the short form, only the long form proves anything (api.md 4.7).
  const issuerDid = status === 'PUBLISHED' ? did : longForm
  const now = Math.floor(Date.now() / 1_000)
  const common = { issuerDid, issuerKey, subjectDid: holderDid, credentialStatus, now }
  const isNamed = issuingKid !== undefined
  if (credentialFormat === 'JWT') {
    return issueJwtVc({
      ...common,
      claims,
      schemas,
      ...(isNamed && { kid: issuingKid }),
      ...(validityPeriod !== undefined && { validityPeriod }),
    })
  }
  const { exp, ...others } = claims
  return issueSdJwt({
    ...common,
    claims: others,
    // Wallets take the whole DID URL or nothing (wire.md 4.5).
    ...(isNamed && { kid: `${issuerDid}#${keyId}` }),
    vct: schemas[0] ?? anyCredential,
    expiresAt: typeof exp === 'number' ? exp : now + (validityPeriod ?? wallet.env.config.CREDENTIAL_SD_JWT_EXPIRY),
    ...(holderKey && { holderKey: holderKey as PublicJwk }),
  })
}

/** The key that an offer is to be signed with. The real agent issues and verifies SD-JWTs on Ed25519 alone (wire.md 4.5). @throws {Problem} */
export function getIssuerKey(wallet: Wallet, { credentialFormat, issuingDID, issuingKid }: Signing) {
  return getSigningKey(wallet, issuingDID, 'assertionMethod', issuingKid, credentialFormat === 'SDJWT' ? 'Ed25519' : undefined)
}

type Signing = { credentialFormat: CredentialFormat; issuingDID: string; issuingKid?: string | undefined }
