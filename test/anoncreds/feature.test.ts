import { expect, test } from 'vitest'
import { assertEnabled } from '../../src/anoncreds/feature.ts'

test.each([
  ['turned off', false, true, /ENABLE_ANONCRED=true/],
  ['not installed', true, false, /npm ci --include=optional/],
])('when AnonCreds is %s, the error names the way out', (_, ENABLE_ANONCRED, isThere, wayOut) => {
  const refused = expect.objectContaining({
    type: 'BadRequest',
    status: 400,
    title: 'BadRequest_FeatureDisabled',
    message: expect.stringMatching(wayOut),
  })
  expect(() => assertEnabled({ ENABLE_ANONCRED }, () => isThere)).toThrow(refused)
})

test('no error when AnonCreds is available and enabled', () => {
  expect(() => assertEnabled({ ENABLE_ANONCRED: true }, () => true)).not.toThrow()
})
