/** Which parts of a proof request a credential of the wallet can answer, and why not the others. */
import { attributeKey } from '../schemas/anoncreds-schema.ts'
import type { Credential } from './model.ts'
import type { PresentationRequest } from './proof-model.ts'
import { findUnmet, type Source } from './restrictions.ts'

/** A credential, and what it does not say itself. */
export type Owned = Pick<Source, 'issuerId' | 'schema'> & { credential: Credential }

/** By the references of a request: why the credential cannot answer, or `undefined` where it can. */
export type Fit = {
  attributes: Record<string, string | undefined>
  predicates: Record<string, string | undefined>
}

/** Compares a credential with a request, attribute by attribute and predicate by predicate. Who vouches for issuers is the verifier's to know. */
export function findFit(request: PresentationRequest, { credential, issuerId, schema }: Owned): Fit {
  const texts = new Map(Object.entries(credential.values).map(([name, { raw }]) => [attributeKey(name), raw]))
  const asked = Object.values(request.requested_attributes).map(({ name }) => attributeKey(name))
  const source: Source = {
    schemaId: credential.schema_id,
    credDefId: credential.cred_def_id,
    issuerId,
    schema,
    attributes: new Set(texts.keys()),
    vouched: { schema: true, definition: true },
    shown: new Map([...texts].filter(([key]) => asked.includes(key))),
  }
  const judge = <Each extends { name: string; restrictions: Record<string, string>[] }>(
    all: Record<string, Each>,
    check: (each: Each, text: string) => string | undefined,
  ) =>
    Object.fromEntries(
      Object.entries(all).map(([reference, each]) => {
        const text = texts.get(attributeKey(each.name))
        if (text === undefined) return [reference, `it has no attribute ${each.name}`]
        return [reference, findUnmet(each.restrictions, source) ?? check(each, text)]
      }),
    )
  return {
    attributes: judge(request.requested_attributes, () => undefined),
    predicates: judge(request.requested_predicates, ({ name, p_type, p_value }, text) => {
      const number = toNumber(text)
      if (number === undefined) return `its attribute ${name} is no whole number`
      return compare[p_type](number, p_value) ? undefined : `its ${name} is not ${p_type} ${p_value}`
    }),
  }
}

/** Why a credential cannot answer all of a request, if it cannot. */
export function findMisfit({ attributes, predicates }: Fit): string | undefined {
  const misfit = [...Object.entries(attributes), ...Object.entries(predicates)].find(
    ([, reason]) => reason !== undefined,
  )
  return misfit && `cannot answer ${misfit[0]}: ${misfit[1]}`
}

const compare = {
  '>=': (one: number, other: number) => one >= other,
  '>': (one: number, other: number) => one > other,
  '<=': (one: number, other: number) => one <= other,
  '<': (one: number, other: number) => one < other,
}

/** The 32-bit integer that a text is; predicates are about no others. */
function toNumber(text: string): number | undefined {
  const number = Number(text)
  return /^[+-]?\d+$/.test(text) && number === (number | 0) ? number : undefined
}
