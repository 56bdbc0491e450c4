/**
 * did:peer numalgo 4 (Peer DID Method Specification, Method 4): `did:peer:4<hash>:<document>`, with the
 * document in base58btc. The Identus mediator uses it.
 */
import * as z from 'zod'
import { fromMultibase, fromUtf8 } from '../foundation/bytes.ts'
import { Problem } from '../foundation/problem.ts'
import { DidDocument, forPurposes, jsonWebKey, purposes } from './document.ts'
import { fromMultikey } from './multikey.ts'
import { multihash } from './peer-2.ts'

/** A verification method of the encoded document. An absent `controller` means the DID itself. */
const Method = z.looseObject({
  id: z.string(),
  type: z.string(),
  controller: z.string().optional(),
  publicKeyMultibase: z.string().optional(),
})
type Method = z.infer<typeof Method>
const Relationship = z.array(z.union([z.string(), Method])).optional()
const InputDocument = z.looseObject({
  id: z.never('must not be at the root').optional(),
  alsoKnownAs: z.array(z.string()).optional(),
  verificationMethod: z.array(Method).optional(),
  service: z.array(z.looseObject({ id: z.string() })).optional(),
  ...forPurposes(() => Relationship),
})

/** The short form of a did:peer of numalgo 4. Any other DID unchanged. */
export function toShortPeerDid(did: string): string {
  return did.replace(/^(did:peer:4z[1-9A-HJ-NP-Za-km-z]+):z.*$/s, '$1')
}

/**
 * Resolves the long form: checks the hash, sets the document's id, makes ids absolute and converts supported
 * Multikeys to `JsonWebKey2020`. Other keys stay unchanged.
 *
 * @throws {Problem} `error:DIDResolution:notFound` for the short form.
 * @throws {Error} when the DID is malformed. The message is the reason.
 */
export function resolvePeer4(did: string): DidDocument {
  const parts = /^did:peer:4(z[1-9A-HJ-NP-Za-km-z]+)(?::(z[1-9A-HJ-NP-Za-km-z]+))?$/.exec(did)
  if (!parts) throw new TypeError('it is not a hash and a document, each in base58btc')
  const [, hash, encoded] = parts
  if (encoded === undefined) {
    throw new Problem(
      'error:DIDResolution:notFound',
      `${did} is a short form: its document is known only from the long form, which has to be used here`,
    )
  }
  if (multihash(encoded) !== hash) throw new TypeError('the hash does not match the document')
  const bytes = fromMultibase(encoded)
  // Multicodec 0x0200, JSON, as varint.
  if (bytes[0] !== 0x80 || bytes[1] !== 0x04) throw new TypeError('the document is not marked as JSON')
  return contextualise(did, `did:peer:4${hash}`, InputDocument.parse(JSON.parse(fromUtf8(bytes.subarray(2)))))
}

function contextualise(did: string, shortForm: string, input: z.infer<typeof InputDocument>): DidDocument {
  const absolute = (id: string) => (id.startsWith('#') ? did + id : id)
  const method = (entry: Method) =>
    toJsonWebKey({ ...entry, id: absolute(entry.id), controller: entry.controller ?? did })
  const relations = purposes.flatMap((purpose) => {
    const entries = input[purpose]
    return entries
      ? [[purpose, entries.map((entry) => (typeof entry === 'string' ? absolute(entry) : method(entry)))]]
      : []
  })
  return DidDocument.parse({
    ...input,
    id: did,
    alsoKnownAs: [...(input.alsoKnownAs ?? []), shortForm],
    ...(input.verificationMethod && { verificationMethod: input.verificationMethod.map(method) }),
    ...Object.fromEntries(relations),
    ...(input.service && {
      service: input.service.map((service) => ({ ...service, id: absolute(service.id) })),
    }),
  })
}

/** Replaces `publicKeyMultibase` by `publicKeyJwk`: DID 1.0 §5.2.1 forbids the same key in two formats. */
function toJsonWebKey(method: Method & { controller: string }): Method {
  const { publicKeyMultibase, ...rest } = method
  if (publicKeyMultibase === undefined) return method
  try {
    const { type, publicKeyJwk } = jsonWebKey('', '', fromMultikey(publicKeyMultibase))
    return { ...rest, type, publicKeyJwk }
  } catch {
    return method
  }
}
