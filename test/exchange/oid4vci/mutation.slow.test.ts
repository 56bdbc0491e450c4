/** Every check is necessary: an attack that is refused succeeds with its check switched off. */
import { expect, onTestFinished, test } from 'vitest'
import { authorizationChecks } from './_checks-authorization.ts'
import { clientChecks } from './_checks-client.ts'
import { credentialChecks } from './_checks-credential.ts'
import { deliveryChecks } from './_checks-delivery.ts'
import { externalChecks } from './_checks-external.ts'
import { logInChecks } from './_checks-log-in.ts'
import { presentationChecks } from './_checks-presentation.ts'
import { renewalChecks } from './_checks-renewal.ts'
import { sourceChecks } from './_checks-source.ts'
import { strangerChecks } from './_checks-strangers.ts'
import { tokenChecks } from './_checks-token.ts'
import { isTaken, loadMutants, nameOf, switchOff, type Check } from './_mutants.ts'
import { startScene } from './_scene.ts'
import { untilEnd } from '../../support/shared.ts'

const checks = [
  ...authorizationChecks,
  ...tokenChecks,
  ...clientChecks,
  ...credentialChecks,
  ...externalChecks,
  ...logInChecks,
  ...presentationChecks,
  ...renewalChecks,
  ...strangerChecks,
  ...sourceChecks,
  ...deliveryChecks,
]

const scene = await untilEnd(startScene({ parts: await loadMutants(checks) }))

test.each(checks.map((check): [string, Check] => [nameOf(check), check]))('%s', async (_, check) => {
  onTestFinished(() => switchOff(undefined))
  const refused = await check.attack(scene)
  expect(isTaken(refused), `the attack succeeds with all checks: ${JSON.stringify(refused)}`).toBe(false)
  switchOff(check)
  const taken = await check.attack(scene)
  expect(isTaken(taken), `the attack fails without the check: ${JSON.stringify(taken)}`).toBe(true)
})
