/** Every check of the wallet as holder, of both protocols, is necessary: an attack that is refused succeeds with its check switched off. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startAgent, type TestAgent } from '../../_agent.ts'
import type { Tenant } from '../../_tenants.ts'
import * as oid4vp from '../../oid4vp/holder/_checks.ts'
import { openVerifier, type OpenVerifier } from '../../oid4vp/holder/_verifier.ts'
import { loadMutants, nameOf, switchOff, type Switch } from '../_mutants.ts'
import * as oid4vci from './_checks.ts'
import { startFakeIssuer, type FakeIssuer } from './_issuer.ts'

type Scene = { holder: Tenant; issuer: FakeIssuer; other: FakeIssuer; verifier: OpenVerifier }
type Check = Switch & { attack: (scene: Scene) => Promise<boolean> }

const pathIn = (folder: string, { file }: Switch) => (file.includes('/') ? file : `${folder}/${file}`)
const checks: Check[] = [
  ...oid4vci.checks.map((check) => ({ ...check, file: pathIn('src/oid4vci/holder', check) })),
  ...oid4vp.checks.map((check) => ({ ...check, file: pathIn('src/oid4vp/holder', check) })),
]

let agent: TestAgent
let scene: Scene
beforeAll(async () => {
  agent = await startAgent({}, { parts: await loadMutants(checks) })
  const [issuer, other] = [await startFakeIssuer(), await startFakeIssuer('/other')]
  scene = { holder: await agent.newTenant('holder'), issuer, other, verifier: await openVerifier() }
})
afterAll(async () => {
  const { issuer, other, verifier } = scene
  for (const each of [agent, issuer, other, verifier]) await each[Symbol.asyncDispose]()
})
beforeEach(() => scene.issuer.reset())

test.each(checks.map((check): [string, Check] => [nameOf(check), check]))('%s', async (_, check) => {
  onTestFinished(() => switchOff(undefined))
  expect(await check.attack(scene), 'the attack succeeds with all checks').toBe(false)
  scene.issuer.reset()
  switchOff(check)
  expect(await check.attack(scene), 'the attack fails without the check').toBe(true)
})
