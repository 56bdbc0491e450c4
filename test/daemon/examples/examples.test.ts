/** The examples of the API document: a real agent accepts the requests, and the responses have the types of the document. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { openapi } from '../../../daemon/http/openapi.ts'
import { splitKey, type Route } from '../../../daemon/http/route.ts'
import { routes } from '../../../daemon/routes/index.ts'
import { examplesFile, record } from './_record.ts'
import type { Example } from './_recorder.ts'

const all: readonly Route[] = routes
const published = JSON.parse(readFileSync(examplesFile, 'utf8')) as Record<string, Example>
/** Ids are numbered by their appearance, which a list that is one longer changes. */
const withoutNumbers = (value: unknown) => JSON.stringify(value).replaceAll(/8c1f-?[0-9a-f]{12}/g, '')

const isJson = (media: readonly string[] | undefined) =>
  media === undefined || media.includes('application/json')
const withRequest = all.filter(({ contract }) => contract.body).map(({ key }) => key)
const withResponse = all
  .filter(({ contract }) => contract.reply[1] && isJson(contract.media))
  .map(({ key }) => key)

/** The operations without an example of their response, and the reason. Requests have no exceptions. */
const keyed = 'a definition has its key after seconds; POST has the same type without it'
const ledger = 'for other agents, which are NeoPRISM clients already'
const withoutResponse: Readonly<Record<string, string>> = {
  'GET /_system/doctor': 'it depends on the machine',
  'GET /_system/ready': 'it depends on the state of the daemon',
  'GET /api/_system/health': ledger,
  'GET /api/dids': ledger,
  'GET /api/dids/{did}': ledger,
  'GET /api/dids/{did}/protobuf': ledger,
  'GET /api/operations/{operationId}': ledger,
  'GET /api/transactions/{transactionId}': ledger,
  'GET /api/vdr-data/{entryHash}': ledger,
  'GET /api/vdr-data/{entryHash}/metadata': ledger,
  'GET /credential-definition-registry/definitions/did-url/{guid}': keyed,
  'GET /credential-definition-registry/definitions/did-url/{guid}/definition': keyed,
  'GET /credential-definition-registry/definitions/{guid}': keyed,
  'GET /credential-definition-registry/definitions/{guid}/definition': keyed,
  'GET /credential-status/{id}': 'a compressed list of 131,072 bits in a signed credential',
  'GET /docs/openapi.json': 'this document',
  'PUT /_system/nodes/{name}/draining': 'the story has no PostgreSQL',
  'DELETE /_system/nodes/{name}/draining': 'the story has no PostgreSQL',
  'GET /web/{name}/did.json': 'a DID document, as that of GET /dids/{didRef}',
  'POST /wallets/{walletId}/resumption': 'the wallet of GET /wallets/{walletId}',
}

test('every request with a body has an example, and every response in JSON has one or a reason', () => {
  expect(withRequest.filter((key) => published[key]?.request === undefined)).toEqual([])
  const missing = withResponse.filter((key) => published[key]?.response === undefined)
  expect(missing.toSorted()).toEqual(Object.keys(withoutResponse).toSorted())
  const responses = withResponse.length - missing.length
  console.info(
    `examples: all ${withRequest.length} requests, ${responses} of ${withResponse.length} responses`,
  )
  expect(Object.keys(published).filter((key) => !all.some((route) => route.key === key))).toEqual([])
})

describe('a real agent', () => {
  let recorded: Record<string, Example>
  beforeAll(async () => {
    recorded = await record()
  })

  // The calls of the story succeeded, with the ids of this run.
  test.each(withRequest)('accepts the request of %s', (key) => {
    expect(withoutNumbers(recorded[key]?.request)).toBe(withoutNumbers(published[key]?.request))
  })
})

describe('the examples have the types of the document', () => {
  const document = JSON.parse(
    JSON.stringify(openapi(routes, { version: '0', url: 'http://agent.example' })),
  ) as object
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  ajv.addSchema(document, 'api')

  test.each(Object.keys(published))('%s', (key) => {
    const [method, path] = splitKey(key as Route['key'])
    const { contract } = all.find((route) => route.key === key)!
    const at = `api#/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method.toLowerCase()}`
    const json = 'application~1json'
    const { request, response } = published[key]!
    const check = (place: string, value: unknown, media = json) => {
      const isValid = ajv.validate(`${at}/${place}/content/${media}/schema`, value)
      expect(isValid ? [] : ajv.errors, `${place} of ${key}`).toEqual([])
    }
    if (request !== undefined)
      check('requestBody', request, contract.form ? 'application~1x-www-form-urlencoded' : json)
    if (response !== undefined) check(`responses/${contract.reply[0]}`, response)
  })
})
