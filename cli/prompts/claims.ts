/** Questions for claims: one for each property of a known schema, or any claims without one. */
import { getTemplate, templateNames } from '../../src/definitions/templates/index.ts'
import { type Configuration, listConfigurations, readSchema } from '../client/configurations.ts'
import { faultOf } from '../errors/errors.ts'
import { type ClaimField, fieldsOf } from '../input/claim-fields.ts'
import { readClaims } from '../input/claims.ts'
import type { Asking, Question } from './missing.ts'

/** Asks for the claims of an offer: by the properties of its schema, or one by one. */
export const whichClaims: Question = {
  unless: ['claims'],
  async ask(asking) {
    const { schema, isPart } = await findSchema(asking)
    const fields = fieldsOf(schema, isPart)
    return fields ? askFields(fields, asking.terminal) : askAny(asking.terminal)
  },
}

/** The schema of the offer that the flags describe so far. `isPart`: a claims source has other claims. */
async function findSchema({ call, given }: Asking): Promise<{ schema?: unknown; isPart?: boolean }> {
  const { template, schema, oid4vci, configuration, type } = given
  const name = templateNames.find((each) => each === template)
  if (name) return { schema: getTemplate(name).schema }
  if (Array.isArray(schema) && schema.length === 1)
    return { schema: await readSchema(call, String(schema[0])) }
  if (typeof oid4vci !== 'string') return {}
  const [issuer, id, called] = [oid4vci, configuration, type].map(valueOf)
  const isNamed = ({ configurationId, label }: Configuration) =>
    id === ''
      ? [configurationId, label].some((name) => name.toLowerCase() === called!.toLowerCase())
      : configurationId === id
  const found = (await listConfigurations(call)).filter(
    (each) => (issuer === '' || issuer === each.issuerId) && isNamed(each),
  )
  const [only, other] = found
  if (!only || other) return {}
  return { schema: await readSchema(call, only.schemaId), isPart: only.hasSource }
}

/** A value as it was typed, or as an earlier question has answered it. */
const valueOf = (value: unknown) => (typeof value === 'string' ? value.replace(/^--[\w-]+=/, '') : '')

async function askFields(fields: readonly ClaimField[], terminal: Asking['terminal']): Promise<string[]> {
  const { askText } = await import('./ask.ts')
  const claims: string[] = []
  for (const { label, isRequired, toClaim, faultOf: check } of fields) {
    const claim = toClaim(await askText(label, { optional: !isRequired, check }, terminal))
    if (claim !== undefined) claims.push(`--claim=${claim}`)
  }
  return claims
}

async function askAny(terminal: Asking['terminal']): Promise<string[]> {
  const { askText } = await import('./ask.ts')
  const claims: string[] = []
  for (;;) {
    const isFirst = claims.length === 0
    const message = isFirst ? 'A claim, such as name=Alice or age:=42:' : 'Another claim, or Enter to finish:'
    const claim = await askText(
      message,
      { optional: !isFirst, check: (text) => faultOf(() => readClaims({ claim: [...claims, text] })) },
      terminal,
    )
    if (claim === '') return claims.map((each) => `--claim=${each}`)
    claims.push(claim)
  }
}
