import { expect, test } from 'vitest'
import { variables } from '../../../src/foundation/config/config.ts'
import {
  findUnknownVariables,
  isSecret,
  secretFiles,
  variableNames,
  type Name,
} from '../../../src/foundation/config/setting-names.ts'

// prettier-ignore
test.each([
  ['AGENT_HTP_PORT',       'AGENT_HTTP_PORT'],
  ['AGNET_HTTP_PORT',      'AGENT_HTTP_PORT'],
  ['agent_http_port',      'AGENT_HTTP_PORT'],
  ['AGENT_LOGLEVEL',       'AGENT_LOG_LEVEL'],
  ['VDR_URI',              'VDR_URL'],
  ['ADMIN_TOKEN_FIEL',     'ADMIN_TOKEN_FILE'],
  ['MEDIATOR_QUEUE_LIMITS', 'MEDIATOR_QUEUE_LIMIT'],
  ['REST_SERVICE_URI',     'REST_SERVICE_URL'],
  ['AGENT_API_KYE',        'AGENT_API_KEY'],
  // Of CI systems and of the Cloud Agent.
  ['AGENT_TOOLSDIRECTORY', undefined],
  ['AGENT_OS',             undefined],
  ['AGENT_DB_HOST',        undefined],
])('the variable %s is not known, and %s may be meant', (name, near) => {
  expect(findUnknownVariables({ [name]: 'x' })).toEqual([{ name, near }])
})

test('variables of others are not reported', () => {
  const names = [
    'PATH',
    'HOME',
    'API_KEY',
    'AUTH_TOKEN',
    'DATABASE_URL',
    'EVENT_NAME',
    'CI',
    'ADMIN',
    'FLOW',
    'OTEL_METRICS_EXPORTER',
    '_',
    '',
  ]
  expect(findUnknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([])
  expect(findUnknownVariables(Object.fromEntries(variableNames().map((name) => [name, 'x'])))).toEqual([])
})

test('every secret can be in a file', () => {
  const secrets = (Object.keys(variables) as Name[]).filter((name) =>
    /TOKEN(?:_PREVIOUS)?$|API_KEY$|SEED$|SECRET$|MASTER_KEY$|HEADERS$|DATABASE_URL$/.test(name),
  )
  expect(secrets.filter((name) => !isSecret(name))).toEqual([])
  expect([...secretFiles.values(), 'AGENT_MASTER_KEY'].toSorted()).toEqual(secrets.toSorted())
})
