/**
 * Reads the DID documents of other software. An entry that cannot be read is left out, because the others may
 * have all that is needed: a service without an endpoint says nothing about the keys.
 */
import * as z from 'zod'
import { readForeign, validOnes } from '../foundation/foreign.ts'
import { DidDocument, forPurposes, purposes, Service, VerificationMethod } from './document.ts'

/** JSON-LD processors write an array of one value as the value. */
const oneOrMore = <Entry extends z.ZodType>(entry: Entry) =>
  z.preprocess((value) => (typeof value === 'string' ? [value] : value), validOnes(entry))

const Relationship = oneOrMore(z.union([z.string(), VerificationMethod])).optional()

const ForeignDocument = DidDocument.extend({
  verificationMethod: validOnes(VerificationMethod).optional(),
  ...forPurposes(() => Relationship),
  service: validOnes(Service).optional(),
})

/** @throws {z.ZodError} */
export function readDidDocument(value: unknown): DidDocument {
  const { data, error } = readForeign(ForeignDocument, value)
  if (!data) throw error
  const named = (method: VerificationMethod) => ({ ...method, id: nameOf(method, data.id) })
  const document: DidDocument = { ...data }
  if (data.verificationMethod) document.verificationMethod = data.verificationMethod.map(named)
  for (const purpose of purposes)
    if (data[purpose])
      document[purpose] = data[purpose].map((each) =>
        typeof each === 'string' ? toReference(each) : named(each),
      )
  return document
}

/**
 * The id of a method. If it is the DID, purposes name the method by the `kid` of its key, as in documents of
 * walt.id.
 */
function nameOf({ id, publicKeyJwk }: VerificationMethod, did: string): string {
  const kid = publicKeyJwk?.['kid']
  return id === did && typeof kid === 'string' ? `${did}#${kid}` : toReference(id)
}

/** A name without `#` is a fragment too: documents with `@base` have some. */
function toReference(id: string): string {
  return /[:#/?]/.test(id) ? id : `#${id}`
}
