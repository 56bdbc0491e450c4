/** Checks of token requests, and the attack that each one stops. */
import { consent, newPkce, offered } from './_authorization.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import type { Check } from './_mutants.ts'
import { authorizedForm, changeSession, expire, preAuthorized, type Scene } from './_scene.ts'
import { redeem } from './_wallet.ts'

/** Redeems an authorization code with other parameters than valid ones. */
const redeemed =
  (changes: () => Record<string, string>) =>
  async ({ setup }: Scene) =>
    redeem(setup, { ...(await authorizedForm(setup)).form, ...changes() })

/** Enters wrong transaction codes, and then the right one. */
async function guess({ setup }: Scene, wrongs: number) {
  const { form, txCode } = await preAuthorized(setup, { txCode: true })
  const wrong = txCode === '000000' ? '000001' : '000000'
  for (let count = 0; count < wrongs; count++) await redeem(setup, { ...form, tx_code: wrong })
  return { form, right: txCode!, wrong }
}

export const tokenChecks: Check[] = [
  {
    file: 'authorization-code.ts',
    text: 'isOver(authorized.endsMs)',
    off: 'false',
    attack: async (scene) => {
      const { form, recordId } = await authorizedForm(scene.setup)
      await changeSession(scene, recordId, { authorized: (value) => ({ ...value, endsMs: 1 }) })
      return redeem(scene.setup, form)
    },
  },
  {
    file: 'authorization-code.ts',
    text: 'clientId !== authorized.clientId',
    off: 'false',
    attack: redeemed(() => ({ client_id: 'thief' })),
  },
  {
    file: 'authorization-code.ts',
    text: 'redirectUri !== authorized.redirectUri',
    off: 'false',
    attack: redeemed(() => ({ redirect_uri: 'https://thief.example' })),
  },
  {
    file: 'authorization-code.ts',
    text: 'digestOf(verifier) !== authorized.codeChallenge',
    off: 'false',
    attack: redeemed(() => ({ code_verifier: newPkce().verifier })),
  },
  {
    file: 'authorization-code.ts',
    text: 'authorized.jkt !== undefined && jkt !== authorized.jkt',
    off: 'false',
    attack: async ({ setup }) => {
      const nonce = await newDpopNonce(setup)
      const { form } = await authorizedForm(setup, {}, proofFor(setup, 'par', { nonce }))
      return post(setup, 'token', form, proofFor(setup, 'token', { nonce }))
    },
  },
  {
    // An authorization code as pre-authorized code needs no verifier.
    file: 'token.ts',
    text: 'session.authorized !== null',
    off: 'false',
    attack: async ({ setup }) => {
      const { parameters } = await offered(setup, { txCode: false })
      const code = await consent(setup, parameters)
      const { form } = await preAuthorized(setup)
      return redeem(setup, { ...form, 'pre-authorized_code': code })
    },
  },
  {
    file: 'token.ts',
    text: 'isOver((record.openid4vci?.expiresTime ?? 0) * 1_000)',
    off: 'false',
    attack: async (scene) => {
      const { form, recordId } = await preAuthorized(scene.setup)
      await expire(scene, recordId)
      return redeem(scene.setup, form)
    },
  },
  {
    file: 'session.ts',
    text: 'session?.issuer_id !== issuerId',
    off: 'false',
    attack: async ({ setup, other }) => redeem(setup, (await preAuthorized(other)).form),
  },
  {
    file: 'tx-code.ts',
    text: 'createTokenCheck([new Secret(right)])(given)',
    off: 'true',
    attack: async (scene) => {
      const { form, wrong } = await guess(scene, 0)
      return redeem(scene.setup, { ...form, tx_code: wrong })
    },
  },
  {
    file: 'tx-code.ts',
    text: 'guesses === 0',
    off: 'false',
    attack: async (scene) => {
      const { form, right } = await guess(scene, 5)
      return redeem(scene.setup, { ...form, tx_code: right })
    },
  },
]
