/** Checks of token requests, and the attack that each one stops. */
import { consent, newPkce, offered } from './_authorization.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { check, type Check } from './_mutants.ts'
import { authorizedForm, changeGrant, expire, preAuthorized, type Scene, take, tokenOf } from './_scene.ts'
import { redeem } from './_wallet.ts'

/** Redeems an authorization code with other parameters than valid ones. */
const redeemed =
  (changes: Record<string, string>) =>
  async ({ setup }: Scene) =>
    redeem(setup, { ...(await authorizedForm(setup)).form, ...changes })

/** Enters wrong transaction codes, and then the right one. */
async function guess({ setup }: Scene, wrongs: number) {
  const { form, txCode } = await preAuthorized(setup, { txCode: true })
  const wrong = txCode === '000000' ? '000001' : '000000'
  for (let count = 0; count < wrongs; count++) await redeem(setup, { ...form, tx_code: wrong })
  return { form, right: txCode!, wrong }
}

export const tokenChecks: Check[] = [
  check('authorization-code.ts', 'isOver(authorized.endsMs)', async (scene) => {
    const { form, recordId } = await authorizedForm(scene.setup)
    await changeGrant(scene, recordId, { authorized: (value) => ({ ...value, endsMs: 1 }) })
    return redeem(scene.setup, form)
  }),
  check('authorization-code.ts', 'clientId !== authorized.clientId', redeemed({ client_id: 'thief' })),
  check(
    'authorization-code.ts',
    'redirectUri !== authorized.redirectUri',
    redeemed({ redirect_uri: 'https://thief.example' }),
  ),
  check(
    'authorization-code.ts',
    'digestOf(verifier) !== authorized.codeChallenge',
    redeemed({ code_verifier: newPkce().verifier }),
  ),
  check(
    'authorization-code.ts',
    'authorized.jkt !== undefined && jkt !== authorized.jkt',
    async ({ setup }) => {
      const nonce = await newDpopNonce(setup)
      const { form } = await authorizedForm(setup, {}, proofFor(setup, 'par', { nonce }))
      return post(setup, 'token', form, proofFor(setup, 'token', { nonce }))
    },
  ),
  // An authorization code as pre-authorized code needs no verifier.
  check('token.ts', 'grant.authorized !== null', async ({ setup }) => {
    const { parameters } = await offered(setup, { txCode: false })
    const code = await consent(setup, parameters)
    const { form } = await preAuthorized(setup)
    return redeem(setup, { ...form, 'pre-authorized_code': code })
  }),
  check('token.ts', 'isOver((records[0]!.openid4vci?.expiresTime ?? 0) * 1_000)', async (scene) => {
    const { form, recordId } = await preAuthorized(scene.setup)
    await expire(scene, recordId)
    return redeem(scene.setup, form)
  }),
  check('grant.ts', 'grant?.issuer_id !== issuerId', async ({ setup, other }) =>
    redeem(setup, (await preAuthorized(other)).form),
  ),
  check('grant.ts', 'row?.issuer_id !== issuerId', async ({ setup, other }) =>
    take(setup, (await tokenOf(other)).token),
  ),
  check('tx-code.ts', ['createTokenCheck([new Secret(right)])(given)', 'true'], async (scene) => {
    const { form, wrong } = await guess(scene, 0)
    return redeem(scene.setup, { ...form, tx_code: wrong })
  }),
  check('tx-code.ts', 'guesses === 0', async (scene) => {
    const { form, right } = await guess(scene, 5)
    return redeem(scene.setup, { ...form, tx_code: right })
  }),
]
