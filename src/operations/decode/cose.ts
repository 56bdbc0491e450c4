/** COSE_Sign1 of known kinds: issuerAuth of an mdoc, status lists as CWTs, and lists of authorities (VICAL). */
import { toBase64url } from '../../foundation/bytes.ts'
import { type CborValue, decodeCbor, Embedded, Tagged } from '../../foundation/cbor/index.ts'
import {
  algorithmOf,
  type CoseHeaders,
  type CoseSign1,
  coseWarnings,
  header,
  readSign1,
  readX5chain,
} from '../../foundation/cose/index.ts'
import { isMediaType } from '../../foundation/media-type.ts'
import { reasonOf } from '../../foundation/reason.ts'
import {
  identifierListCwtType,
  type ListWarning,
  readIdentifierListCwt,
  readStatusListCwt,
  statusListCwtType,
} from '../../credentials/codecs/status-list-cwt.ts'
import { toJson } from '../../credentials/formats/mdoc/values.ts'
import { readVical } from '../../credentials/formats/mdoc/vical.ts'
import { describe, type Given } from './binary.ts'
import { certificatesOf } from './certificate.ts'
import { type Decoded, decodedOf, DecodeError, type Facts, reading } from './decoded.ts'
import { decodeIssuerAuth } from './mdoc.ts'
import { claimFacts } from './jwt.ts'
import { formCheck } from './mdoc-form.ts'
import { signatureByCertificate } from './signature.ts'
import { statusListFacts } from './status-list.ts'

/** @throws {DecodeError} for a message of no known kind */
export function decodeSign1(given: Given): Decoded | Promise<Decoded> {
  const { value } = given
  const message = value instanceof Tagged && value.tag === 61 ? value.value : value
  const sign1 = reading('a COSE_Sign1', 'content', () => readSign1(message, { isTagAllowed: true }))
  const typ = sign1.protected.get(header.typ)
  const payload = payloadOf(sign1)
  const named = payload instanceof Map ? payload : new Map<CborValue, CborValue>()
  if (isMediaType(typ, statusListCwtType) || named.has(65_533)) return decodeStatusList(given, sign1)
  if (isMediaType(typ, identifierListCwtType) || named.has(65_530)) return decodeIdentifiers(given, sign1)
  if (payload instanceof Embedded) return decodeIssuerAuth(given)
  if (named.has('certificateInfos')) return decodeVical(given, payload)
  const content =
    sign1.payload === null ? 'elsewhere' : payload === undefined ? 'not CBOR' : describe(payload)
  throw new DecodeError(`This is a COSE_Sign1, but of no known kind: its payload is ${content}`)
}

function payloadOf({ payload }: CoseHeaders): CborValue {
  try {
    return payload === null ? undefined : decodeCbor(payload, { items: 200_000 })
  } catch {
    return undefined
  }
}

function algorithmFact(sign1: CoseSign1): Facts {
  try {
    return { algorithm: algorithmOf(sign1).name }
  } catch (error) {
    return { algorithm: reasonOf(error) }
  }
}

type List = { x5c: string[] | undefined; warnings: ListWarning[] }

const warningTexts = { ...coseWarnings, 'type-missing': 'has no type (16) in its protected header' }

/** A list of either kind. It can be shown, although it is malformed. */
function listOf<Read extends List>(
  [kind, title]: [string, string],
  sign1: CoseSign1,
  read: () => Read,
  show: (list: Read) => { facts: Facts; payload: object },
): Decoded {
  try {
    const list = read()
    const { facts, payload } = show(list)
    const faults = list.warnings.map((each) => `the token ${warningTexts[each]}`)
    return decodedOf(
      kind,
      title,
      { ...algorithmFact(sign1), ...facts },
      {
        checks: [signatureByCertificate(sign1, list.x5c), formCheck(faults)],
        content: { payload },
        parts: certificatesOf(list.x5c),
      },
    )
  } catch (error) {
    const checks = [signatureByCertificate(sign1, chainOf(sign1)), formCheck([reasonOf(error)])]
    return decodedOf(kind, title, algorithmFact(sign1), {
      checks,
      content: { payload: toJson(payloadOf(sign1)) },
    })
  }
}

/** The chain, if it can be read. */
function chainOf(sign1: CoseSign1): string[] | undefined {
  try {
    return readX5chain(sign1)
  } catch {
    return undefined
  }
}

function decodeStatusList({ bytes }: Given, sign1: CoseSign1): Decoded {
  return listOf(
    ['status-list-cwt', 'Token Status List (CWT)'],
    sign1,
    () => readStatusListCwt(bytes),
    ({ claims: { status_list: list, ...claims } }) => ({
      facts: { ...claimFacts(claims), ...statusListFacts(claims, list) },
      payload: { ...claims, status_list: { ...list, lst: toBase64url(list.lst) } },
    }),
  )
}

function decodeIdentifiers({ bytes }: Given, sign1: CoseSign1): Decoded {
  return listOf(
    ['identifier-list-cwt', 'list of revoked identifiers (CWT)'],
    sign1,
    () => readIdentifierListCwt(bytes),
    ({ claims: { identifier_list: list, ...claims } }) => {
      const identifiers = [...list.identifiers.keys()].map(toBase64url)
      return {
        facts: {
          ...claimFacts(claims),
          subject: undefined,
          list: claims.sub,
          revoked: identifiers.length,
          'seconds to keep': claims.ttl,
        },
        payload: { ...claims, identifier_list: { identifiers } },
      }
    },
  )
}

/** Its structure. Whose the list is, and whether its certificates fit, is not checked. @throws {DecodeError} */
function decodeVical({ bytes }: Given, payload: CborValue): Decoded {
  const list = reading('a list of authorities of ISO/IEC 18013-5 (VICAL)', 'content', () => readVical(bytes))
  const { sign1, x5c, certificates } = list
  const facts = {
    ...algorithmFact(sign1),
    provider: list.provider,
    'issue id': list.issueId,
    issued: list.date,
    'next update': list.nextUpdate,
    certificates: certificates.length,
    'document types': [...new Set(certificates.flatMap(({ docTypes }) => docTypes))].toSorted(),
  }
  return decodedOf('vical', 'list of authorities (VICAL)', facts, {
    checks: [signatureByCertificate(sign1, x5c)],
    content: { document: toJson(payload) },
    parts: certificatesOf(x5c),
  })
}
