/**
 * What a strict reader refuses or warns of in the structures of ISO/IEC 18013-5, and the agent accepts:
 * mistakes that do not change what is said of keys, digests, signatures and times.
 */
import {
  type CborValue,
  decodeCbor,
  Embedded,
  type Finding,
  scanCbor,
  Tagged,
} from '../../foundation/cbor/index.ts'
import { pairing } from '../../foundation/cose/index.ts'
import type { PublicJwk } from '../../foundation/crypto/keys.ts'
import type { IssuerSigned } from '../../credentials/formats/mdoc/issuer-signed.ts'
import { fullDateTag, isDate, toKey } from '../../credentials/formats/mdoc/values.ts'
import type { Binary } from './binary.ts'
import { certificateOf } from './certificate.ts'
import type { Check, Facts } from './decoded.ts'

/** `faults` are refused, `warnings` are not. */
export type Form = { faults: string[]; warnings: string[] }

/** Warnings of the readers that a strict reader does not refuse. */
const mild = ['nameSpaces is an empty map', 'a digestID is 2147483648 or more']

/** Bytes of CBOR by name. */
export type Parts = readonly (readonly [name: string, bytes: Uint8Array])[]

/**
 * The form of a structure. `noted` is what its reader has accepted. The parts are views of `whole`, by which
 * offsets count; without them, it is the whole itself.
 */
export function formOf(noted: readonly string[], whole: Uint8Array, parts: Parts = [['it', whole]]): Form {
  const found = parts.flatMap(([name, bytes]) => findingsIn(name, bytes, bytes.byteOffset - whole.byteOffset))
  const isMild = (text: string) => mild.includes(text) || text.includes(findings['long-head'])
  const texts = [...noted, ...found]
  return { faults: texts.filter((text) => !isMild(text)), warnings: texts.filter(isMild) }
}

const findings: Readonly<Record<Finding['name'], string>> = {
  'long-head': 'a head that is longer than it must be',
  indefinite: 'an array or map of indefinite length',
  undefined: 'the value undefined',
}

/** The findings in an item that begins at `base`, each kind once with its first place. */
function findingsIn(name: string, bytes: Uint8Array, base: number): string[] {
  const all = scanCbor(bytes)
  return (Object.keys(findings) as Finding['name'][]).flatMap((kind) => {
    const [first, ...more] = all.filter((each) => each.name === kind)
    if (!first) return []
    const rest = more.length === 0 ? '' : `, and ${more.length} more`
    return [`${name} has ${findings[kind]}, at byte ${base + first.offset}${rest}`]
  })
}

/** The most faults that the check names. */
const maxFaults = 10

/** Whether a structure is as the standard has it. */
export function formCheck(faults: readonly string[]): Check {
  const name = 'form'
  if (faults.length === 0) return { name, result: 'passed', detail: 'as the standard has it' }
  const more = faults.length > maxFaults ? [`and ${faults.length - maxFaults} more`] : []
  return { name, result: 'failed', detail: [...faults.slice(0, maxFaults), ...more].join('; ') }
}

/** The facts of warnings. What is read over OpenID4VC is base64url without padding. */
export function warningFacts({ encoding }: Pick<Binary, 'encoding'>, { warnings }: Form): Facts {
  const encoded = encoding === 'base64' ? ['it is base64, and OpenID4VC has base64url without padding'] : []
  return { warnings: [...warnings, ...encoded] }
}

/** The form of what an issuer has signed. */
export function formOfDocument(read: IssuerSigned, whole: Uint8Array, parts: Parts): Form {
  const { items, warnings, issuerAuth } = read
  const dates = items.flatMap(({ namespace, id, value }) => dateFaults(`${namespace}.${id}`, id, value))
  const mso = issuerAuth.payload && decodeCbor(issuerAuth.payload)
  return formOf([...warnings, ...dates, ...chainFaults(read)], whole, [
    ...parts,
    ...items.map(({ namespace, id, embedded }) => [`${namespace}.${id}`, embedded.content] as const),
    ...(mso instanceof Embedded ? [['the MSO', mso.content] as const] : []),
  ])
}

/** The signer's certificate is not a root, no root follows it, and its key goes with the algorithm. */
function chainFaults({ x5c, algorithm }: IssuerSigned): string[] {
  if (!x5c) return ['issuerAuth has no certificates in x5chain']
  try {
    const chain = x5c.map(certificateOf)
    const root = chain.findIndex((each) => each.subject === each.issuer && each.verify(each.publicKey))
    const { crv } = chain[0]!.publicKey.export({ format: 'jwk' }) as PublicJwk
    return [
      ...(root < 0
        ? []
        : [
            `x5chain[${root}] is self-signed: ${root === 0 ? 'it is not below an authority' : 'the root is left out'}`,
          ]),
      ...(pairing(algorithm, crv) === 'usual'
        ? []
        : [`the issuer signs ${algorithm.name} with a key on ${crv}`]),
    ]
  } catch {
    return ['x5chain has a certificate that cannot be read']
  }
}

/** Elements and their members that are days: `full-date` with the tag 1004. */
function dateFaults(path: string, name: string, value: CborValue): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => dateFaults(`${path}[${index}]`, name, each))
  if (value instanceof Map)
    return [...value].flatMap(([key, each]) => dateFaults(`${path}.${toKey(key)}`, toKey(key), each))
  if (!name.endsWith('_date')) return []
  if (typeof value === 'string') return [`${path} is a date without a tag`]
  const { tag, value: text } = value instanceof Tagged ? value : {}
  return tag !== fullDateTag && typeof text === 'string' && isDate(text)
    ? [`${path} is a day with the tag ${tag} instead of 1004`]
    : []
}
