/** Issues tokens: the terms of an offer, and the signed credential of a record. Every transport takes them. */
import { assignStatus } from '../../wallet/credential-status/assign.ts'
import type { PublicJwk } from '../../foundation/crypto/keys.ts'
import { getManagedDid } from '../../wallet/did-registrar/dids.ts'
import { getSigningKey } from '../../wallet/did-registrar/keys.ts'
import type { Signing, Terms } from '../../credentials/formats/format.ts'
import { formats } from '../../credentials/formats/index.ts'
import { type TokenFormat, traitsOf } from '../../definitions/format-names.ts'
import { getCertificateSigner } from '../../wallet/issuer-certificates/signatures.ts'
import { checkClaims } from '../../credentials/schemas/claims.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialRecord } from './model.ts'
import type { OfferTerms } from './offers.ts'

/** An issued credential, its index in a status list, and a write to make in the same transaction. */
export type SignedCredential = {
  credential: string
  statusListIndex: number
  store: (tx: Tx) => Promise<unknown>
}

type Offered = OfferTerms & Pick<Terms, 'type'>

/** Checks what the format, the issuer and the schemas require. @throws {Problem} with the reason */
export async function checkOffered(
  wallet: Wallet,
  offered: Offered,
  toSchema?: (schema: unknown) => unknown,
): Promise<void> {
  await getSigner(wallet, offered)
  await checkContent(wallet, offered, toSchema)
}

/**
 * Checks what the format and the schemas require. `toSchema` changes the schemas.
 *
 * @throws {Problem} with the reason
 */
export async function checkContent(
  wallet: Wallet,
  offered: Terms & Pick<OfferTerms, 'credentialFormat'>,
  toSchema = (schema: unknown) => schema,
): Promise<void> {
  formats[offered.credentialFormat as TokenFormat].checkTerms?.(offered)
  for (const url of offered.schemaIds)
    await checkClaims(offered.claims, toSchema(await wallet.env.getSchema(url)))
}

/** Checks that the wallet can still sign for the issuer of an offer. @throws {Problem} with the reason */
export function checkIssuer(wallet: Wallet, record: CredentialRecord): Promise<unknown> {
  return getSigner(wallet, termsOf(record))
}

export const termsOf = (record: CredentialRecord) => ({ ...record, type: record.openid4vci?.type })

/** Signs the credential of a record for its holder. @throws {Problem} if the issuer cannot sign */
export async function signCredential(wallet: Wallet, record: CredentialRecord): Promise<SignedCredential> {
  const { holderDid, holderKey, id, credentialFormat } = record
  if (holderDid === undefined) throw new Error(`the record ${id} has no holder`)
  const format = formats[credentialFormat as TokenFormat]
  const terms = termsOf(record)
  const { listOwner, ...signer } = await getSigner(wallet, terms)
  const { status, tokenStatus, store } = await assignStatus(wallet, listOwner, format.statusFormFor(terms))
  const credential = format.sign(terms, {
    ...signer,
    subjectDid: holderDid,
    holderKey: holderKey as PublicJwk | undefined,
    credentialStatus: status,
    tokenStatus,
    now: issuanceTime(record),
    defaultPeriod: wallet.env.config.CREDENTIAL_SD_JWT_EXPIRY,
  })
  const { idx: statusListIndex } = tokenStatus.status_list
  return { credential, statusListIndex, store: (tx) => store(tx, id) }
}

/**
 * The time of issuance in epoch seconds. That of OpenID4VCI is rounded down to the hour, so that verifiers
 * cannot link the credentials of a batch by it (VCI §15.4.1), unless the credential is valid for less than a
 * day.
 */
function issuanceTime({ openid4vci, validityPeriod = Infinity }: CredentialRecord): number {
  const now = Math.floor(Date.now() / 1_000)
  return openid4vci && validityPeriod >= 86_400 ? now - (now % 3_600) : now
}

/** A key of a DID, or that of an issuer certificate. `listOwner` is the issuer in the table of status lists. */
type Signer = Pick<Signing, 'issuerDid' | 'issuerKey' | 'keyId' | 'x5c'> & { listOwner: string }

/** @throws {Problem} when the DID has no key for the format, or the certificate no valid chain */
async function getSigner(
  wallet: Wallet,
  terms: Pick<OfferTerms, 'issuingDID' | 'issuerCertificateId' | 'credentialFormat'> & Terms,
): Promise<Signer> {
  const { issuingDID, issuingKid, issuerCertificateId: id, credentialFormat } = terms
  if (id !== undefined) {
    const profile = traitsOf(credentialFormat).openid?.certificateProfile
    const { issuer, key, x5c } = await getCertificateSigner(wallet, id, [profile])
    return { issuerDid: issuer, issuerKey: key, x5c, listOwner: id }
  }
  if (issuingDID === undefined) throw new Error('the offer has no issuer')
  const curve = formats[credentialFormat as TokenFormat].curveFor?.(terms)
  const { keyId, privateJwk } = await getSigningKey(wallet, issuingDID, 'assertionMethod', issuingKid, curve)
  const { did, longForm, status } = await getManagedDid(wallet.db, issuingDID)
  // Others cannot resolve the short form of an unpublished DID.
  return { issuerDid: status === 'PUBLISHED' ? did : longForm, issuerKey: privateJwk, keyId, listOwner: did }
}
