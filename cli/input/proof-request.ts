/** Requests for AnonCreds proofs, from flags: `--reveal name --predicate 'age>=18'`. */
import type { Input } from '../client/api.ts'
import { UsageError } from '../errors/errors.ts'
import { isGuid } from './registry.ts'

type Request = NonNullable<Input<'POST /present-proof/presentations'>['body']['anoncredPresentationRequest']>
type Predicate = NonNullable<Request['requested_predicates']>[string]

/** The values of the flags: the requested attributes and predicates, and the accepted credentials. */
export type Asked = {
  name: string
  reveal?: readonly string[] | undefined
  predicate?: readonly string[] | undefined
  definition?: readonly string[] | undefined
  schema?: string | undefined
  issuers?: readonly string[] | undefined
}

/**
 * Creates a proof request. Attributes and predicates get their own text as reference, which the prover sees.
 *
 * @throws {UsageError} when nothing is requested, or a predicate is not in the form `age>=18`.
 */
export function readAsked({ name, reveal = [], predicate = [], ...of }: Asked, baseUrl: string): Request {
  if (reveal.length + predicate.length === 0)
    throw new UsageError(`Nothing is requested: give --reveal name, or --predicate 'age>=18'.`)
  const restrictions = readRestrictions(of, baseUrl)
  return {
    name,
    version: '1.0',
    requested_attributes: Object.fromEntries(
      reveal.map((attribute) => [attribute, { name: attribute, restrictions }]),
    ),
    requested_predicates: Object.fromEntries(
      predicate.map((text) => [text, { ...readPredicate(text), restrictions }]),
    ),
  }
}

function readPredicate(text: string): Pick<Predicate, 'name' | 'p_type' | 'p_value'> {
  const [, name, type, value] = /^(.*?\S)\s*(>=|<=|>|<)\s*(-?\d+)$/s.exec(text.trim()) ?? []
  if (name === undefined)
    throw new UsageError(
      `--predicate ${JSON.stringify(text)} is not in the form 'age>=18': a name, one of >= > <= <, a whole number.`,
    )
  return { name, p_type: type as Predicate['p_type'], p_value: Number(value) }
}

/** Returns one restriction for each accepted combination. All members of a restriction must match. */
function readRestrictions(
  { definition = [], schema, issuers = [] }: Omit<Asked, 'name'>,
  baseUrl: string,
): Record<string, string>[] {
  const urlOf = (id: string, path: (guid: string) => string) => (isGuid(id) ? `${baseUrl}/${path(id)}` : id)
  const definitions = definition.map((id) => ({
    cred_def_id: urlOf(id, (guid) => `credential-definition-registry/definitions/${guid}/definition`),
  }))
  const schemas =
    schema === undefined
      ? []
      : [{ schema_id: urlOf(schema, (guid) => `schema-registry/schemas/${guid}/schema`) }]
  const all = [definitions, schemas, issuers.map((did) => ({ issuer_did: did }))].filter(
    (each) => each.length > 0,
  )
  return all.length === 0
    ? []
    : all.reduce<Record<string, string>[]>(
        (made, each) => made.flatMap((one) => each.map((other) => ({ ...one, ...other }))),
        [{}],
      )
}
