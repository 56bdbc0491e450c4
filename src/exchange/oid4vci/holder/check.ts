/**
 * The checks of a received credential: it is of the issuer that signed it, of the offered type, and bound to
 * the wallet's key.
 */
import { isDeepStrictEqual } from 'node:util'
import { createCheckpoint } from '../../../foundation/checkpoint.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { findOtherForm } from '../../../credentials/formats/token-form.ts'
import { findBoundKey, type HolderKey } from '../../../wallet/did-registrar/holder-key.ts'
import type { Decoded } from '../../../credentials/formats/format.ts'
import { formats } from '../../../credentials/formats/index.ts'
import { formatOfId, openIdTraits } from '../../../definitions/format-names.ts'
import { isTokensFault } from '../../protocols/attachments.ts'
import type { CredentialData } from '../../issuance/model.ts'
import { invalidIssue } from '../../issuance/refusals.ts'
import { verifyReceived } from '../../issuance/received.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { OfferRecord } from './record.ts'

/** `key` is the one that the credential is bound to. */
export type Checked = {
  credential: string
  issuer: string
  claims: CredentialData['claims']
  key: HolderKey | undefined
}

/**
 * Credentials of one response are copies: of one issuer, with the same claims, each bound to another of the
 * keys.
 *
 * @throws as `checkCredential`
 */
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

/**
 * `keys` are those of the request, if the credential is to be bound to one.
 *
 * @throws {Problem} `InvalidCredentialIssue`; 503 if a check is not possible for now
 */
async function checkCredential(
  wallet: Wallet,
  { receivedOffer }: OfferRecord,
  credential: string,
  keys: readonly HolderKey[],
): Promise<Checked> {
  const { format: id, binding, types } = receivedOffer
  try {
    const otherForm = findOtherForm(credential, id)
    if (otherForm !== undefined) throw new TypeError(`it ${otherForm}`)
    const name = formatOfId(id)
    const format = formats[name]
    const decoded = await verifyReceived(wallet, name, credential)
    format.checkType(decoded, types)
    const key = binding && keyOf(keys, (each) => format.isBoundTo(decoded, each))
    if (!binding && !openIdTraits(id).isBoundToDid) await requireOwnKey(wallet, decoded)
    const claims = decoded.claims as CredentialData['claims']
    return { credential, issuer: decoded.issuerDid, claims, key }
  } catch (error) {
    if (!isTokensFault(error)) throw error
    throw invalidIssue(reasonOf(error), error)
  }
}

/** An issuer returns credentials in any order. */
function keyOf(keys: readonly HolderKey[], isOf: (key: HolderKey) => boolean): HolderKey {
  const key = keys.find((each) => isOf(each))
  if (!key) throw new TypeError('it is not bound to the key of the request, or to that of another copy')
  return key
}

/** The metadata say that the credential is bound to no key. If it is, the key must be one of the wallet's. */
async function requireOwnKey(wallet: Wallet, decoded: Decoded): Promise<void> {
  if (decoded.isBound && !(await findBoundKey(wallet, decoded.subjectDid, decoded)))
    throw new TypeError('it is bound to a key that this wallet does not have')
}
