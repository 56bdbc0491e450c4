import { expect, test } from 'vitest'
import { assertEnabled } from '../../../src/credentials/anoncreds/engine.ts'

test('when AnonCreds is turned off, the error names the way out', () => {
  expect(() => assertEnabled({ ENABLE_ANONCRED: false })).toThrow(
    expect.objectContaining({
      type: 'BadRequest',
      status: 400,
      title: 'BadRequest_FeatureDisabled',
      message: expect.stringContaining('ENABLE_ANONCRED=true'),
    }),
  )
  expect(() => assertEnabled({ ENABLE_ANONCRED: true })).not.toThrow()
})
