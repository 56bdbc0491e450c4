/**
 * The bodies of success of the Cloud Agent's operations fit its document. The recorded examples are those of
 * a running agent.
 */
import { expect, test } from 'vitest'
import examples from '../../daemon/http/examples.json' with { type: 'json' }
import { anonymous, bodies, faultsOf } from './_cloud-agent-bodies.ts'

type Example = { response?: unknown }
const recorded = new Map(
  Object.entries(examples as Record<string, Example>).map(([key, example]) => [anonymous(key), example]),
)

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

test('all 89 operations are known', () => {
  expect(Object.keys(bodies)).toHaveLength(89)
})

const withSchema = Object.entries(bodies).flatMap(([key, { schema }]) => (schema ? [key] : []))

test.each(withSchema.filter((key) => !unrecorded.includes(key)))('%s', (key) => {
  const response = recorded.get(anonymous(key))?.response
  expect(response).toBeDefined()
  const faults = faultsOf(key, response)
  if (key in different) expect(faults).not.toEqual([])
  else expect(faults).toEqual([])
})
