/**
 * The examples of the API document: a real agent has answered all of them, and they have the types of this
 * document and of the Cloud Agent’s.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, test } from 'vitest'
import { openapi } from '../../../daemon/http/openapi.ts'
import { splitKey, type Route } from '../../../daemon/http/route.ts'
import { routes } from '../../../daemon/routes/index.ts'
import { anonymous, bodies, faultsOf } from '../_cloud-agent-bodies.ts'
import { record } from './_record.ts'
import type { Example } from './_recorder.ts'
import { withoutResponse, withRequest, withResponse } from './_rest.ts'

const all: readonly Route[] = routes
let recorded: Record<string, Example>
beforeAll(async () => {
  recorded = await record()
})

test('every request with a body has an example, and every response in JSON has one or a reason', () => {
  expect(withRequest.filter((key) => recorded[key]?.request === undefined)).toEqual([])
  const missing = withResponse.filter((key) => recorded[key]?.response === undefined)
  expect(missing.toSorted()).toEqual(Object.keys(withoutResponse).toSorted())
  const responses = withResponse.length - missing.length
  console.info(
    `examples: all ${withRequest.length} requests, ${responses} of ${withResponse.length} responses`,
  )
})

describe('the examples have the types of the document', () => {
  const document = JSON.parse(
    JSON.stringify(openapi(routes, { version: '0', url: 'http://agent.example' })),
  ) as object
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  ajv.addSchema(document, 'api')

  test.each(all)('$key', ({ key, contract }) => {
    const [method, path] = splitKey(key)
    const at = `api#/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method.toLowerCase()}`
    const json = 'application~1json'
    const { request, response } = recorded[key] ?? {}
    const check = (place: string, value: unknown, media = json) => {
      const isValid = ajv.validate(`${at}/${place}/content/${media}/schema`, value)
      expect(isValid ? [] : ajv.errors, `${place} of ${key}`).toEqual([])
    }
    if (request !== undefined)
      check('requestBody', request, contract.form ? 'application~1x-www-form-urlencoded' : json)
    if (response !== undefined) check(`responses/${contract.reply[0]}`, response)
  })
})

/** Operations whose example differs, with the reason. */
const different: Readonly<Record<string, string>> = {
  'GET /credential-definition-registry/definitions': 'keys are generated after the reply',
  'POST /credential-definition-registry/definitions': 'keys are generated after the reply',
  'POST /credential-definition-registry/definitions/did-url': 'keys are generated after the reply',
  'POST /oid4vci/issuers/{issuerId}/credentials': 'the request is that of the final specification',
  'GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer':
    'a configuration has the format dc+sd-jwt',
}

/** Operations whose example has no body of success. */
const unrecorded = [
  'GET /credential-definition-registry/definitions/did-url/{guid}/definition',
  'GET /credential-definition-registry/definitions/{guid}',
  'GET /credential-definition-registry/definitions/did-url/{guid}',
  'GET /credential-status/{id}',
]

/** The key of the operation here, whose parameters may have other names. */
const routeOf = (key: string) => all.find((route) => anonymous(route.key) === anonymous(key))!.key

test('all 89 operations of the Cloud Agent are known', () => {
  expect(Object.keys(bodies)).toHaveLength(89)
})

const withSchema = Object.entries(bodies).flatMap(([key, { schema }]) => (schema ? [key] : []))

test.each(withSchema.filter((key) => !unrecorded.includes(key)))(
  '%s has the body of the Cloud Agent',
  (key) => {
    const response = recorded[routeOf(key)]?.response
    expect(response).toBeDefined()
    const faults = faultsOf(key, response)
    if (key in different) expect(faults).not.toEqual([])
    else expect(faults).toEqual([])
  },
)
