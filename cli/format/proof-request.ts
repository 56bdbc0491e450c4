/** Formats proof requests and the credentials that satisfy them. */
import { traitsOf } from '../../src/definitions/format-names.ts'
import * as z from 'zod'
import { pathOf } from './credential.ts'
import { dcqlText } from './dcql.ts'
import { shortDid, shortUrlName } from './text.ts'
import { tryParseJson } from '../../src/foundation/json.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'
import type { Answer } from '../client/api.ts'
import { table } from './table.ts'
import { ago } from './time.ts'

type Pair = readonly [name: string, value: unknown]

/** The request in a presentation record. */
export type Asked = {
  requestData: readonly string[]
  proofs?: readonly unknown[] | undefined
  issuers?: string | readonly string[] | undefined
}

const Restriction = z.record(z.string(), z.unknown())
const Restrictions = z.array(Restriction).nullish()
const AnonCreds = z.looseObject({
  requested_attributes: z.record(z.string(), z.looseObject({ name: z.string(), restrictions: Restrictions })),
  requested_predicates: z
    .record(
      z.string(),
      z.looseObject({
        name: z.string(),
        p_type: z.string(),
        p_value: z.number(),
        restrictions: Restrictions,
      }),
    )
    .default({}),
})
const Field = z.looseObject({
  path: z.array(z.string()).default([]),
  filter: z.looseObject({ const: z.unknown() }).nullish(),
})
const Descriptor = z.looseObject({
  id: z.string().nullish(),
  name: z.string().nullish(),
  purpose: z.string().nullish(),
  constraints: z.looseObject({ fields: z.array(Field).nullish() }).nullish(),
})
const Definition = z.looseObject({
  presentation_definition: z.looseObject({ input_descriptors: z.array(Descriptor).default([]) }),
})
const SdJwt = z.looseObject({ claims: z.record(z.string(), z.unknown()).nullish() })
const Options = z.looseObject({ options: z.looseObject({ domain: z.string() }) })
const ProofLine = z.object({ schemaId: z.string(), trustIssuers: z.array(z.string()).nullish() })

const signs: Readonly<Record<string, string>> = { '>=': '≥', '<=': '≤' }

/**
 * Describes a request in one line, such as `name and city of an SD-JWT credential with the schema employee,
 * issued by did:prism:…1f2c`. The fields of `proofRequestFields` have the whole ids.
 */
export function proofRequestText({ issuers, ...asked }: Asked, isShort = false): string {
  const named = typeof issuers === 'object' ? `, issued by ${issuers.map(shortDid).join(' or ')}` : ''
  return contentText(asked, isShort) + named
}

/** As `proofRequestText`, for lists: a query of OpenID4VP begins with the name of the type. */
export function shortProofRequest(asked: Asked): string {
  return proofRequestText(asked, true)
}

function contentText({ requestData, proofs = [] }: Asked, isShort: boolean): string {
  const content = tryParseJson(requestData[0] ?? '') ?? {}
  const dcql = dcqlText(content, isShort)
  if (dcql !== undefined) return dcql
  const anonCreds = AnonCreds.safeParse(content)
  if (anonCreds.success) return anonCredsText(anonCreds.data)
  const definition = Definition.safeParse(content)
  const of = linesOf(proofs).map(withSchema).join(', and one')
  const descriptors = definition.data?.presentation_definition.input_descriptors ?? []
  if (descriptors.length > 0) return `${descriptors.map(descriptorText).join('; ')}${of}`
  const { title } = traitsOf(definition.success ? 'JWT' : 'SDJWT')
  const claims = definition.success ? [] : pathsOf(SdJwt.safeParse(content).data?.claims ?? {})
  const article = of || claims.length > 0 ? (definition.success ? 'a' : 'an') : 'any'
  return `${claims.length > 0 ? `${all(claims)} of ` : ''}${article} ${title} credential${of}`
}

function linesOf(proofs: readonly unknown[]): z.output<typeof ProofLine>[] {
  return proofs.flatMap((each) => ProofLine.safeParse(each).data ?? [])
}

/**
 * Returns the fields of a request: in words, the whole ids of schemas and issuers, and the domain of the
 * presentation.
 */
export function proofRequestFields(asked: Asked): Pair[] {
  const content = tryParseJson(asked.requestData[0] ?? '') ?? {}
  const lines = linesOf(asked.proofs ?? [])
  const rules = restrictionsOf(AnonCreds.safeParse(content).data)
  const named = typeof asked.issuers === 'object' ? asked.issuers : []
  // The domain of a request that names none.
  const domain = Options.safeParse(content).data?.options.domain
  const issuers = [...named, ...lines.flatMap(({ trustIssuers }) => trustIssuers ?? [])]
  return [
    ['asked for', asked.requestData.length === 0 ? undefined : proofRequestText(asked)],
    ['schema', lines.map(({ schemaId }) => schemaId).join(' ') || undefined],
    ['trusted issuer', [...new Set(issuers.map(canonicalDid))].join(' ') || undefined],
    ['restrictions', rules.length > 0 ? rules : undefined],
    ['domain', domain === 'default-domain' ? undefined : domain],
  ]
}

function restrictionsOf(request: z.output<typeof AnonCreds> | undefined): z.output<typeof Restriction>[] {
  if (!request) return []
  const { requested_attributes: attributes, requested_predicates: predicates } = request
  return [...Object.values(attributes), ...Object.values(predicates)].flatMap(
    ({ restrictions }) => restrictions ?? [],
  )
}

function anonCredsText(request: z.output<typeof AnonCreds>): string {
  const wanted = [
    ...Object.values(request.requested_attributes).map(({ name }) => name),
    ...Object.values(request.requested_predicates).map(
      ({ name, p_type, p_value }) => `${name} ${signs[p_type] ?? p_type} ${p_value}`,
    ),
  ]
  const texts = [...new Set(restrictionsOf(request).map(restrictionText))].filter((text) => text !== '')
  return `${all(wanted)} of an AnonCreds credential${texts.join(' or')}`
}

const restrictionNames: Readonly<Record<string, string>> = {
  cred_def_id: ' with the definition',
  schema_id: ' with the schema',
  schema_name: ' with the schema',
  issuer_did: ', issued by',
  issuer_id: ', issued by',
}

function restrictionText(restriction: z.output<typeof Restriction>): string {
  return Object.entries(restriction)
    .map(([key, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return `${restrictionNames[key] ?? ` with ${key}`} ${text.startsWith('did:') ? shortDid(text) : shortUrlName(text)}`
    })
    .join('')
}

function descriptorText({ id, name, purpose, constraints }: z.output<typeof Descriptor>): string {
  const fields = (constraints?.fields ?? []).map(({ path, filter }) => {
    const claim = path[0]?.replace(/^\$(?:\.vc)?(?:\.credentialSubject)?\.?/, '') || 'any content'
    return filter?.const === undefined
      ? claim
      : `${claim} = ${typeof filter.const === 'string' ? filter.const : JSON.stringify(filter.const)}`
  })
  const title = name ?? purpose ?? id ?? 'a credential'
  return fields.length > 0 ? `${title} (${all(fields)})` : title
}

/** Describes a line of `proofs`, such as ` with the schema employee, issued by did:prism:…1f2c`. */
function withSchema({ schemaId, trustIssuers }: z.output<typeof ProofLine>): string {
  const issuers = (trustIssuers ?? []).map(shortDid).join(' or ')
  return ` with the schema ${shortUrlName(schemaId)}${issuers === '' ? '' : `, issued by ${issuers}`}`
}

/** Returns the paths of requested claims. An object with members requests its members. */
function pathsOf(claims: Readonly<Record<string, unknown>>, above: string[] = []): string[] {
  return Object.entries(claims).flatMap(([name, value]) => {
    const path = [...above, name]
    const isObject =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    return isObject ? pathsOf(value as Record<string, unknown>, path) : [pathOf(path)]
  })
}

function all(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

export type Candidates = Answer<'GET /present-proof/presentations/{presentationId}/candidates'>
type Candidate = Candidates['candidates'][number]
type Line = Candidates['lines'][number]

/** A candidate with what tells it from others of its kind. */
export type Described = Candidate & {
  /** The display name of the type. */
  type: string
  /** The name of the issuer, if one is known. */
  issuerName: string | undefined
  /** The claims with their values. */
  line: string
}

/** Prints candidates as a table, with the reason for those that do not match. */
export function candidatesTable(candidates: readonly Described[], width?: number): string {
  return table(
    candidates,
    [
      { head: 'credential', of: ({ recordId }) => recordId, isId: true },
      { head: 'why not', of: ({ reason }) => reason, optional: true },
      { head: 'type', of: ({ type }) => type, cut: 'end' },
      { head: 'claims', of: ({ line }) => line, cut: 'end' },
      { head: 'issuer', of: issuerOf, cut: 'end' },
      { head: 'ends', of: ({ validUntil }) => validUntil?.slice(0, 10), optional: true },
      { head: 'received', of: ({ receivedAt }) => ago(receivedAt, Date.now()), optional: true },
    ],
    width,
  )
}

/** The name of the issuer, which it gives itself, before its DID or address. */
export function issuerOf({ issuer, issuerName }: Described): string {
  return issuerName === undefined ? issuer : `${issuerName} (${issuer})`
}

/**
 * Returns the next commands for a request: one for each matching credential, or the rejection if none
 * matches.
 */
export function presentCommands(presentationId: string, { candidates, lines, choice }: Candidates): string[] {
  const present = `agent proof present ${presentationId}`
  if (choice) return [present]
  if (candidates.length === 0 || unanswered(lines)) return [`agent proof reject ${presentationId}`]
  if (lines.length > 1) {
    const first = new Set(lines.flatMap((line) => line.candidates.slice(0, 1)))
    return [[present, ...[...first].map((id) => `--credential ${id}`)].join(' ')]
  }
  return candidates.slice(0, 5).map(({ recordId }) => `${present} --credential ${recordId}`)
}

/** Describes the first line of a request that no credential of the wallet satisfies. */
export function unanswered(lines: Candidates['lines']): string | undefined {
  const index = lines.findIndex((line) => line.candidates.length === 0)
  return index < 0 ? undefined : describeLine(lines[index]!, index)
}

/** Describes a line of a request by its index in `proofs`. */
function describeLine({ schemaId, trustIssuers }: Line, index: number): string {
  return `proofs.${index}, the schema ${schemaId}${trustIssuers.length > 0 ? ` by ${trustIssuers.join(' or ')}` : ''}`
}

/**
 * Returns why these credentials do not satisfy the request, as a sentence without full stop. Undefined if
 * they do.
 */
export function findMisfit({ others, lines }: Candidates, proofId: readonly string[]): string | undefined {
  const other = others.find(({ recordId }) => proofId.includes(recordId))
  if (other)
    return `the credential ${other.recordId} does not answer the request, and the verifier may refuse it: ${other.reason}`
  const index = lines.findIndex((line) => !line.candidates.some((id) => proofId.includes(id)))
  if (index < 0) return undefined
  return `none of the credentials satisfies ${describeLine(lines[index]!, index)}, and the verifier may refuse the presentation`
}
