/** Compares bodies of success with the document of the Cloud Agent. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import published from '../../fixtures/cloud-agent/success-bodies.json' with { type: 'json' }

type Body = { status: number; schema?: object }
export const bodies: Readonly<Record<string, Body>> = published.bodies

/** A key with anonymous parameters. */
export const anonymous = (key: string) => key.replaceAll(/\{\w+\}/g, '{}')

const ajv = new Ajv2020({ strict: false, allErrors: true })
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of the package describe another module format
;(addFormats as unknown as (target: Ajv2020) => void)(ajv)
ajv.addSchema({ $id: 'cloud-agent', components: { schemas: published.schemas } })

/** Why a body is not that of the Cloud Agent's operation. Empty: it is. */
export function faultsOf(key: string, body: unknown): string[] {
  const schema = bodies[key]?.schema
  if (!schema) throw new Error(`the Cloud Agent’s document has no body of ${key}`)
  const text = JSON.stringify(schema).replaceAll('"#/', '"cloud-agent#/')
  const validate = ajv.compile(JSON.parse(text) as object)
  validate(body)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`.trim())
}
