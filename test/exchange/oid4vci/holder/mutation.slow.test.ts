/**
 * Every check of the wallet as holder, of both protocols, is necessary: an attack that is refused succeeds
 * with its check switched off.
 */
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { startAgent } from '../../../support/agent.ts'
import type { Tenant } from '../../../support/tenants.ts'
import * as oid4vp from '../../oid4vp/holder/_checks.ts'
import { openVerifier, type OpenVerifier } from '../../oid4vp/holder/_verifier.ts'
import { loadMutants, nameOf, switchOff, type Switch } from '../_mutants.ts'
import * as oid4vci from './_checks.ts'
import { startFakeIssuer, type FakeIssuer } from './_issuer.ts'
import { untilEnd } from '../../../support/shared.ts'

type Scene = { holder: Tenant; issuer: FakeIssuer; other: FakeIssuer; verifier: OpenVerifier }
type Check = Switch & { attack: (scene: Scene) => Promise<boolean> }

const pathIn = (folder: string, { file }: Switch) => (file.includes('/') ? file : `${folder}/${file}`)
const checks: Check[] = [
  ...oid4vci.checks.map((check) => ({ ...check, file: pathIn('src/exchange/oid4vci/holder', check) })),
  ...oid4vp.checks.map((check) => ({ ...check, file: pathIn('src/exchange/oid4vp/holder', check) })),
]

const agent = await untilEnd(startAgent({}, { parts: await loadMutants(checks) }))
const scene: Scene = {
  holder: await agent.newTenant('holder'),
  issuer: await untilEnd(startFakeIssuer()),
  other: await untilEnd(startFakeIssuer('/other')),
  verifier: await untilEnd(openVerifier()),
}
beforeEach(() => scene.issuer.reset())

test.each(checks.map((check): [string, Check] => [nameOf(check), check]))('%s', async (_, check) => {
  onTestFinished(() => switchOff(undefined))
  expect(await check.attack(scene), 'the attack succeeds with all checks').toBe(false)
  scene.issuer.reset()
  switchOff(check)
  expect(await check.attack(scene), 'the attack fails without the check').toBe(true)
})
