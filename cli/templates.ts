/** Templates of credentials, as flags and as schemas that are published once. */
import * as Flags from '@oclif/core/flags'
import { getTemplate, type TemplateName, templateNames } from '../src/definitions/templates/index.ts'
import { ProblemError } from '../daemon/client/client.ts'
import type { Context } from './define-command.ts'
import { kinds, schemaUrl } from './input/registry.ts'

export const templateFlag = Flags.option({
  options: templateNames,
  description: 'template of the credential: its schema, labels and colours (agent template list)',
})

/**
 * Runs a step that offers claims. If they do not fit the template, the error names it and the command that
 * shows an example.
 */
export async function naming<Result>(
  template: TemplateName | undefined,
  step: () => Promise<Result>,
): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    const isOfClaims =
      error instanceof ProblemError && (error.problem.type ?? '').endsWith('CredentialSchemaValidationError')
    if (!isOfClaims || template === undefined) throw error
    const detail = `The claims do not fit the template ${template}. ${error.problem.detail ?? ''}`
    const hint = `agent template show ${template}   # its claims, and an example`
    throw Object.assign(error, { hint, problem: { ...error.problem, detail } })
  }
}

/**
 * The URL of a template's schema by an author. It is published unless the author has published the same
 * before.
 */
export async function publishTemplate(
  { call, getAccess, say, isQuiet, isJson }: Context,
  name: TemplateName,
  author: string,
): Promise<string> {
  const { title, schema } = getTemplate(name)
  const query = { author, name: title, limit: 100, offset: 0 }
  const { contents } = await call('GET /schema-registry/schemas', { query })
  const text = JSON.stringify(schema)
  const known = contents.find((each) => JSON.stringify(each.schema) === text)
  if (known) return schemaUrl(known.guid, getAccess().url)
  const { guid } = await call('POST /schema-registry/schemas', {
    query: {},
    body: { name: title, version: '1.0.0', type: kinds.json, author, schema },
  })
  if (!isQuiet && !isJson) say(`Made, because it was missing:\n  schema  ${guid}  ${title}\n`)
  return schemaUrl(guid, getAccess().url)
}
