/** The JSON schemas of the OpenID Foundation for documents and requests. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

const ajv = new Ajv2020({ strict: false, allErrors: true })
// The package is CommonJS.
;(addFormats as unknown as (to: Ajv2020) => void)(ajv)

/** The violations of a schema of `fixtures/openid` in a document; an empty array for a valid one. */
export function faults(schema: string, document: unknown): unknown {
  const file = new URL(`../../../fixtures/openid/${schema}.json`, import.meta.url)
  const definition = JSON.parse(readFileSync(file, 'utf8')) as { $id?: string }
  const validate =
    (definition.$id && ajv.getSchema(definition.$id)) ||
    ajv.compile({ ...definition, $schema: undefined } as object)
  return validate(document) ? [] : validate.errors
}
