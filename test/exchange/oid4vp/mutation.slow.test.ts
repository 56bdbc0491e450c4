/** Every check of the verifier is necessary: an attack that is refused succeeds with its check switched off. */
import { expect, onTestFinished, test } from 'vitest'
import { isTaken, loadMutants, nameOf, switchOff } from '../oid4vci/_mutants.ts'
import { checks as verifierChecks, type Check } from './_checks.ts'
import { sessionChecks } from './_session-checks.ts'
import { startVerifier } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const checks = [...verifierChecks, ...sessionChecks]

const verifier = await untilEnd(
  startVerifier({}, { parts: await loadMutants(checks, 'src/exchange/oid4vp') }),
)

test.each(checks.map((check): [string, Check] => [nameOf(check), check]))('%s', async (_, check) => {
  onTestFinished(() => switchOff(undefined))
  const refused = await check.attack(verifier)
  expect(isTaken(refused), `the attack succeeds with all checks: ${JSON.stringify(refused)}`).toBe(false)
  switchOff(check)
  const taken = await check.attack(verifier)
  expect(isTaken(taken), `the attack fails without the check: ${JSON.stringify(taken)}`).toBe(true)
})
