/** The signer of a credential: a key of a DID, or that of an issuer certificate. */
import type { PrivateJwk } from '../../../crypto/keys.ts'
import { getManagedDid } from '../../../did-registrar/dids.ts'
import { getSigningKey } from '../../../did-registrar/keys.ts'
import { getCertificateSigner } from '../../../issuer-certificates/signatures.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { OfferTerms } from '../offers.ts'

export type Signer = {
  /** For `iss`: a DID that others can resolve, or the URI in the certificate. */
  issuerDid: string
  issuerKey: PrivateJwk
  /** For a DID. */
  keyId?: string
  /** Of a certificate. */
  x5c?: string[]
  /** The issuer in the table of status lists. */
  listOwner: string
}

type Named = Pick<OfferTerms, 'issuingDID' | 'issuingKid' | 'issuerCertificateId'>

/** `curve` is that of the preferred key of a DID. @throws {Problem} when the DID has no such key, or the certificate no valid chain */
export async function getSigner(wallet: Wallet, named: Named, curve?: 'Ed25519'): Promise<Signer> {
  const { issuingDID, issuingKid, issuerCertificateId: id } = named
  if (id !== undefined) {
    const { issuer, key, x5c } = await getCertificateSigner(wallet, id)
    return { issuerDid: issuer, issuerKey: key, x5c, listOwner: id }
  }
  if (issuingDID === undefined) throw new Error('the offer has no issuer')
  const { keyId, privateJwk } = await getSigningKey(wallet, issuingDID, 'assertionMethod', issuingKid, curve)
  const { did, longForm, status } = await getManagedDid(wallet.db, issuingDID)
  // Others cannot resolve the short form of an unpublished DID.
  return { issuerDid: status === 'PUBLISHED' ? did : longForm, issuerKey: privateJwk, keyId, listOwner: did }
}
