/** SD-JWTs (RFC 9901): the claims with their disclosures, the digests, and the key binding. */
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { decodeHeader, decodeJws, decodePayload, isSignedBy } from '../../credentials/codecs/jws.ts'
import {
  type Confirmation,
  holderKeysOf,
  readConfirmation,
} from '../../credentials/codecs/sd-jwt/confirmation.ts'
import { digestBy, readDisclosure } from '../../credentials/codecs/sd-jwt/disclosure.ts'
import { readKeyBinding } from '../../credentials/codecs/sd-jwt/key-binding.ts'
import { decodeSdJwtClaims, splitSdJwt } from '../../credentials/codecs/sd-jwt/sd-jwt.ts'
import { unpack } from '../../credentials/codecs/sd-jwt/unpack.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { issuerOf } from '../../credentials/codecs/x509-issuer.ts'
import { didOf } from '../../did/document.ts'
import {
  type Check,
  check,
  type Decoded,
  decodedOf,
  type Facts,
  idOf,
  reading,
  type Sources,
  textOf,
} from './decoded.ts'
import { claimFacts, statusesOf } from './jwt.ts'
import { byKey, headerFacts, signatureOf, whyUnresolved } from './signature.ts'

/** @throws {DecodeError} */
export async function decodeSdJwt(text: string, sources: Sources): Promise<Decoded> {
  const form = 'an SD-JWT (a JWT and its disclosures, with ~ between them)'
  const { jwt, disclosures, keyBinding } = reading(form, 'text', () => splitSdJwt(text))
  const header = reading(form, 'header', () => decodeHeader(jwt))
  const payload = reading(form, 'payload', () => decodePayload(jwt))
  const shown = disclosures.map(describe)
  const { claims, digests } = resolve(payload, disclosures)
  const isVc = payload['vct'] !== undefined
  const parts = keyBinding === undefined ? [] : [await decodeBinding(keyBinding, text, payload, sources)]
  const { status, cnf } = payload
  const reference =
    isJsonObject(status) && isJsonObject(status['status_list']) ? status['status_list'] : undefined
  return {
    kind: isVc ? 'sd-jwt-vc' : 'sd-jwt',
    title: `${isVc ? 'SD-JWT VC' : 'SD-JWT'}${keyBinding === undefined ? '' : ' with key binding'}`,
    facts: {
      vct: textOf(payload['vct']),
      type: textOf(header['typ']),
      ...headerFacts(header),
      ...claimFacts(payload),
      ...issuerFact(payload['iss'], header['x5c']),
      status: [
        ...statusesOf(payload['credentialStatus']),
        ...(reference ? [`index ${idOf(reference['idx'])} of ${idOf(reference['uri'])}`] : []),
      ],
      holder:
        readConfirmation(cnf) === undefined
          ? 'not bound to a key'
          : keyBinding === undefined
            ? 'bound to the key in cnf; a presentation needs a key binding'
            : 'bound to the key in cnf',
      disclosed: shown.map(({ name, value }) => name ?? JSON.stringify(value)),
    },
    checks: [
      await signatureOf(jwt, payload['iss'], sources),
      digests,
      ...(isVc
        ? [await check('form', 'a credential that this agent reads', () => decodeSdJwtClaims(text))]
        : []),
    ],
    content: { header, payload, disclosures: shown, ...(claims && { claims }) },
    parts,
  }
}

/** Beside certificates, the issuer is the subject of the first one. */
function issuerFact(iss: unknown, x5c: unknown): Facts {
  if (x5c === undefined || (iss !== undefined && typeof iss !== 'string')) return {}
  try {
    return { issuer: idOf(issuerOf(iss, x5c)) }
  } catch {
    return {}
  }
}

type Shown = { salt?: unknown; name?: string; value?: unknown; encoded: string; fault?: string }

function describe(encoded: string): Shown {
  try {
    return readDisclosure(encoded)
  } catch (error) {
    return { encoded, fault: reasonOf(error) }
  }
}

/** The claims with all disclosures in their places, and whether every disclosure has its digest. */
function resolve(payload: JsonObject, encoded: readonly string[]): { claims?: JsonObject; digests: Check } {
  const name = 'disclosures'
  try {
    const { claims, disclosures } = unpack(payload, encoded)
    const withheld = countDigests(payload, encoded) - disclosures.length
    const rest = withheld === 0 ? '' : `; ${withheld} more digests are of withheld claims, or decoys`
    const count = disclosures.length
    const matched = count === 0 ? 'there are none' : `each of ${count} matches a digest of the token`
    return { claims, digests: { name, result: 'passed', detail: matched + rest } }
  } catch (error) {
    return { digests: { name, result: 'failed', detail: reasonOf(error) } }
  }
}

/** The digests of the payload, and of the values of all disclosures. */
function countDigests(payload: JsonObject, encoded: readonly string[]): number {
  const count = (value: unknown): number => {
    if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + count(each), 0)
    if (!isJsonObject(value)) return 0
    return Object.entries(value).reduce(
      (sum, [name, member]) =>
        sum + (name === '_sd' && Array.isArray(member) ? member.length : name === '...' ? 1 : count(member)),
      0,
    )
  }
  return encoded.reduce((sum, each) => sum + count(readDisclosure(each).value), count(payload))
}

/** The key binding of a presentation. Its key is in the credential. */
async function decodeBinding(
  jwt: string,
  text: string,
  payload: JsonObject,
  sources: Sources,
): Promise<Decoded> {
  const form = 'the key binding of an SD-JWT'
  const header = reading(form, 'header', () => decodeHeader(jwt))
  const claims = reading(form, 'payload', () => decodePayload(jwt))
  const signature = await bindingSignatureOf(jwt, readConfirmation(payload['cnf']), sources)
  const presented = text.slice(0, text.lastIndexOf('~') + 1)
  const hash = await check('sd_hash', 'the digest of the credential and its disclosures', () => {
    if (claims['sd_hash'] !== digestBy(payload['_sd_alg'])(presented))
      throw new TypeError('it is not the digest of the credential with these disclosures')
  })
  const read = await check('form', 'a key binding that this agent reads', () => readKeyBinding(jwt))
  const facts = { type: textOf(header['typ']), ...headerFacts(header), ...claimFacts(claims) }
  return decodedOf('key-binding', 'key binding', facts, {
    checks: [signature, hash, read],
    content: { header, payload: claims },
  })
}

async function bindingSignatureOf(
  jwt: string,
  confirmation: Confirmation = {},
  sources: Sources,
): Promise<Check> {
  const { holderKey, holderKid } = confirmation
  const check = (result: Check['result'], detail: string) => ({ name: 'signature', result, detail })
  try {
    const jws = decodeJws(jwt)
    const keys = await holderKeysOf(confirmation, sources.resolver.document)
    const [first] = keys
    const which = holderKey
      ? 'the key in the credential (cnf)'
      : `the key ${holderKid} of the credential (cnf)`
    if (first) return byKey(jws, which, () => keys.find((key) => isSignedBy(jws, key)) ?? first)
    return holderKid === undefined
      ? check('not verified', 'the credential names no key that is known here (cnf)')
      : check('failed', `${holderKid} names no authentication key (cnf)`)
  } catch (error) {
    const isUnresolved = error instanceof VerificationError && error.code === 'holder-unresolvable'
    const reason = reasonOf(error)
    return check('not verified', isUnresolved ? whyUnresolved(didOf(holderKid!), sources, reason) : reason)
  }
}
