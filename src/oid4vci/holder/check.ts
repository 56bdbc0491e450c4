/** The checks of a received credential: it is of the issuer that signed it, of the offered type, and bound to the wallet's key. */
import { isJsonObject } from '../../base/json.ts'
import { reasonOf } from '../../base/reason.ts'
import { verifyJwtVc } from '../../credentials/jwt-vc.ts'
import { verifySdJwt } from '../../credentials/sd-jwt/sd-jwt.ts'
import { isSameKey, toPublic, type PublicJwk } from '../../crypto/keys.ts'
import { canonicalDid } from '../../did/document.ts'
import { findHolderKey, type HolderKey } from '../../did-registrar/holder-key.ts'
import { isTokensFault } from '../../protocols/formats.ts'
import { issuanceFormats } from '../../protocols/issue-credential/format.ts'
import type { CredentialData } from '../../protocols/issue-credential/model.ts'
import { invalidIssue } from '../../protocols/issue-credential/refusals.ts'
import { createChainVerifier } from '../../trust-anchors/verify-chain.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { OfferRecord } from './record.ts'

type Checked = { issuer: string; claims: CredentialData['claims'] }

/** `key` is that of the request, if the credential is to be bound to one. @throws {Problem} `InvalidCredentialIssue`; 503 if a check is not possible for now */
export async function checkCredential(
  wallet: Wallet,
  { receivedOffer, credentialFormat }: OfferRecord,
  credential: string,
  key: HolderKey | undefined,
): Promise<Checked> {
  const options = {
    resolve: wallet.env.resolver.document,
    verifyChain: createChainVerifier(wallet),
    now: Math.floor(Date.now() / 1_000),
    leewaySeconds: wallet.env.config.CREDENTIAL_LEEWAY,
    // Revocation matters when the credential is presented, not when it is received.
    verifyStatus: false,
  }
  const isSdJwt = receivedOffer.format === 'dc+sd-jwt'
  try {
    const issuer = isSdJwt
      ? await checkSdJwt(credential, options, receivedOffer.types, key)
      : await checkJwt(credential, options, receivedOffer.types, key)
    if (isSdJwt && !key) await requireOwnKey(wallet, credential)
    const { claims } = issuanceFormats[credentialFormat].read(credential)
    return { issuer, claims: claims as CredentialData['claims'] }
  } catch (error) {
    if (!isTokensFault(error)) throw error
    throw invalidIssue(reasonOf(error), error)
  }
}

type Options = Parameters<typeof verifySdJwt>[1]

async function checkSdJwt(
  text: string,
  options: Options,
  [offered]: readonly string[],
  key: HolderKey | undefined,
): Promise<string> {
  const { vct, holderKey, issuerDid, keyBinding } = await verifySdJwt(text, options)
  if (vct !== offered) throw new TypeError(`its vct is ${vct ?? 'missing'}, and ${offered} was offered`)
  if (keyBinding !== undefined) throw new TypeError('it has a key binding, which only the holder makes')
  if (key) requireKey(holderKey, key)
  return issuerDid
}

async function checkJwt(
  text: string,
  options: Options,
  offered: readonly string[],
  key: HolderKey | undefined,
): Promise<string> {
  const { payload, issuerDid, subjectDid } = await verifyJwtVc(text, options)
  const types = [payload.vc.type].flat()
  const missing = offered.find((type) => !types.includes(type))
  if (missing !== undefined) throw new TypeError(`it is not of the type ${missing}, which was offered`)
  if (!key || (subjectDid !== undefined && canonicalDid(subjectDid) === key.did)) return issuerDid
  const cnf = payload['cnf']
  const bound = isJsonObject(cnf) && isJsonObject(cnf['jwk']) ? (cnf['jwk'] as PublicJwk) : undefined
  requireKey(bound, key)
  return issuerDid
}

function requireKey(bound: PublicJwk | undefined, { privateJwk }: HolderKey): void {
  if (!bound) throw new TypeError('it is not bound to the key of the request')
  if (!isSameKey(toPublic(bound), toPublic(privateJwk)))
    throw new TypeError('it is bound to another key than that of the request')
}

/** The metadata say that the credential is bound to no key. If it is, the key must be one of the wallet's. */
async function requireOwnKey(wallet: Wallet, text: string): Promise<void> {
  const { cnf } = (issuanceFormats.SDJWT.read(text).payload ?? {}) as { cnf?: { jwk?: PublicJwk } }
  if (cnf?.jwk && !(await findHolderKey(wallet, cnf.jwk)))
    throw new TypeError('it is bound to a key that this wallet does not have')
}
