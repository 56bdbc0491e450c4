/** The checks of a received credential: it is of the issuer that signed it, of the offered type, and bound to the wallet's key. */
import { isDeepStrictEqual } from 'node:util'
import { createCheckpoint } from '../../base/checkpoint.ts'
import { reasonOf } from '../../base/reason.ts'
import { findOtherForm } from '../../formats/token-form.ts'
import { verifyJwtVc } from '../../credentials/jwt-vc.ts'
import { readConfirmation } from '../../credentials/sd-jwt/confirmation.ts'
import { requireVcType } from '../../credentials/sd-jwt/issuer-jwt.ts'
import { decodeSdJwt, verifySdJwt } from '../../credentials/sd-jwt/sd-jwt.ts'
import { isSameKey, toPublic, type PublicJwk } from '../../crypto/keys.ts'
import { canonicalDid } from '../../did/document.ts'
import { findBoundKey, type HolderKey } from '../../did-registrar/holder-key.ts'
import { isTokensFault } from '../../protocols/formats.ts'
import { issuanceFormats } from '../../protocols/issue-credential/format.ts'
import type { CredentialData } from '../../protocols/issue-credential/model.ts'
import { invalidIssue } from '../../protocols/issue-credential/refusals.ts'
import { createChainVerifier } from '../../trust-anchors/verify-chain.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { OfferRecord } from './record.ts'

/** `key` is the one that the credential is bound to. */
export type Checked = {
  credential: string
  issuer: string
  claims: CredentialData['claims']
  key: HolderKey | undefined
}

/** Credentials of one response are copies: of one issuer, with the same claims, each bound to another of the keys. @throws as `checkCredential` */
export async function checkCredentials(
  wallet: Wallet,
  record: OfferRecord,
  credentials: readonly string[],
  keys: readonly HolderKey[],
): Promise<Checked[]> {
  const checked: Checked[] = []
  const checkpoint = createCheckpoint()
  for (const credential of credentials) {
    // Certificates may take long. Let other requests proceed in between.
    await checkpoint()
    const left = keys.filter((key) => checked.every((other) => other.key !== key))
    const each = await checkCredential(wallet, record, credential, left)
    const [first = each] = checked
    if (each.issuer !== first.issuer || !isDeepStrictEqual(each.claims, first.claims))
      throw invalidIssue('a copy of it differs in its issuer or its claims')
    checked.push(each)
  }
  return checked
}

/** `keys` are those of the request, if the credential is to be bound to one. @throws {Problem} `InvalidCredentialIssue`; 503 if a check is not possible for now */
async function checkCredential(
  wallet: Wallet,
  { receivedOffer, credentialFormat }: OfferRecord,
  credential: string,
  keys: readonly HolderKey[],
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
    const otherForm = findOtherForm(credential, receivedOffer.format)
    if (otherForm !== undefined) throw new TypeError(`it ${otherForm}`)
    const isBound = receivedOffer.binding !== undefined
    const { issuer, isOf } = isSdJwt
      ? await checkSdJwt(credential, options, receivedOffer.types)
      : await checkJwt(credential, options, receivedOffer.types)
    const key = isBound ? keyOf(keys, isOf) : undefined
    if (isSdJwt && !isBound) await requireOwnKey(wallet, credential)
    const { claims } = issuanceFormats[credentialFormat].read(credential)
    return { credential, issuer, claims: claims as CredentialData['claims'], key }
  } catch (error) {
    if (!isTokensFault(error)) throw error
    throw invalidIssue(reasonOf(error), error)
  }
}

type Options = Parameters<typeof verifySdJwt>[1]
/** The issuer of a credential, and whether it is bound to a key. */
type Verified = { issuer: string; isOf: (key: HolderKey) => boolean }

async function checkSdJwt(text: string, options: Options, [offered]: readonly string[]): Promise<Verified> {
  const verified = await verifySdJwt(text, options)
  requireVcType(verified)
  const { vct, holderKey, issuerDid, keyBinding } = verified
  if (vct !== offered) throw new TypeError(`its vct is ${vct ?? 'missing'}, and ${offered} was offered`)
  if (keyBinding !== undefined) throw new TypeError('it has a key binding, which only the holder makes')
  return { issuer: issuerDid, isOf: (key) => isBoundTo(holderKey, key) }
}

async function checkJwt(text: string, options: Options, offered: readonly string[]): Promise<Verified> {
  const { payload, issuerDid, subjectDid } = await verifyJwtVc(text, options)
  const types = [payload.vc.type].flat()
  const missing = offered.find((type) => !types.includes(type))
  if (missing !== undefined) throw new TypeError(`it is not of the type ${missing}, which was offered`)
  const bound = readConfirmation(payload['cnf'])?.holderKey
  const subject = subjectDid === undefined ? undefined : canonicalDid(subjectDid)
  return { issuer: issuerDid, isOf: (key) => subject === key.did || isBoundTo(bound, key) }
}

function isBoundTo(bound: PublicJwk | undefined, { privateJwk }: HolderKey): boolean {
  return bound !== undefined && isSameKey(toPublic(bound), toPublic(privateJwk))
}

/** An issuer returns credentials in any order. */
function keyOf(keys: readonly HolderKey[], isOf: Verified['isOf']): HolderKey {
  const key = keys.find((each) => isOf(each))
  if (!key) throw new TypeError('it is not bound to the key of the request, or to that of another copy')
  return key
}

/** The metadata say that the credential is bound to no key. If it is, the key must be one of the wallet's. */
async function requireOwnKey(wallet: Wallet, text: string): Promise<void> {
  const decoded = decodeSdJwt(text)
  if (decoded.isBound && !(await findBoundKey(wallet, decoded.subjectDid, decoded)))
    throw new TypeError('it is bound to a key that this wallet does not have')
}
