/**
 * The StatusList2021 credential in the one shape that Identus agents write and read (wire.md 8.3), and the N-Quads that RDF dataset
 * canonicalization (RDFC-1.0, once URDNA2015) makes of it.
 *
 * The shape is fixed, has at most one blank node and no text that needs escaping, so its quads are composed here, and a test compares them
 * with a JSON-LD processor. A member that is not in the shape is refused: a processor would drop it, and the signature not cover it.
 */
import { z } from 'zod'
import { Did } from '../did/document.ts'
import { Instant } from './validity.ts'

/** The first is what the wallets have bundled; the real agent names the second, where the first leads (wire.md 8.3). */
export const statusListContexts = [
  'https://w3id.org/vc/status-list/2021/v1',
  'https://w3c.github.io/vc-bitstring-status-list/contexts/2021/v1.jsonld',
] as const
export const credentialsContext = 'https://www.w3.org/2018/credentials/v1'

/** What N-Quads write between angle brackets without change. */
const Iri = z.string().regex(/^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+$/, 'is not an http or https URL')

export const StatusList2021 = z.strictObject({
  '@context': z.tuple([z.literal(credentialsContext), z.enum(statusListContexts)]),
  id: Iri,
  type: z.tuple([z.literal('VerifiableCredential'), z.literal('StatusList2021Credential')]),
  issuer: Did,
  issuanceDate: Instant.refine(
    (value) => typeof value === 'string' || Number.isSafeInteger(value),
    'is not a whole number',
  ),
  credentialSubject: z.strictObject({
    id: Iri.optional(),
    type: z.literal('StatusList2021'),
    statusPurpose: z.string().regex(/^[A-Za-z]+$/, 'is not a word'),
    encodedList: z.string().regex(/^[\w+/=-]+$/, 'is not base64'),
  }),
})
export type StatusList2021 = z.infer<typeof StatusList2021>

const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const credentials = 'https://www.w3.org/2018/credentials#'
const statusList = 'https://w3id.org/vc/status-list#'

/** The canonical N-Quads of a list, which is what is signed. */
export function toCanonicalQuads({ id, issuer, issuanceDate, credentialSubject }: StatusList2021): string {
  const list = `<${id}>`
  const subject = credentialSubject.id === undefined ? '_:c14n0' : `<${credentialSubject.id}>`
  const quads = [
    [list, rdfType, `<${credentials}VerifiableCredential>`],
    [list, rdfType, `<${statusList}StatusList2021Credential>`],
    [list, `${credentials}credentialSubject`, subject],
    [list, `${credentials}issuanceDate`, `"${issuanceDate}"^^<http://www.w3.org/2001/XMLSchema#dateTime>`],
    [list, `${credentials}issuer`, `<${issuer}>`],
    [subject, rdfType, `<${statusList}StatusList2021>`],
    [subject, `${statusList}encodedList`, `"${credentialSubject.encodedList}"`],
    [subject, `${statusList}statusPurpose`, `"${credentialSubject.statusPurpose}"`],
  ]
  return quads
    .map(([from, predicate, to]) => `${from} <${predicate}> ${to} .\n`)
    .toSorted()
    .join('')
}
