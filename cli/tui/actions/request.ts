/** Asking for a proof. */
import type { Desk } from './action.ts'
import { choosePartner } from './partner.ts'
import { showRequest } from './proof.ts'

export async function request(desk: Desk): Promise<string | undefined> {
  const partner = await choosePartner(desk, 'Ask for a proof: from which connection?')
  if (!partner) return undefined
  const said = await desk.fill('What do you ask for?', [
    { name: 'format', label: 'format', value: 'JWT', words: ['JWT', 'SD-JWT'] },
    // Over a connection, the other side's record does not show it.
    ...(partner.connectionId === null
      ? [{ name: 'goal', label: 'goal', value: '', hint: 'its purpose, which the other side sees' }]
      : []),
    {
      name: 'claim',
      label: 'claim',
      value: '',
      hint: 'of an SD-JWT: the name of a claim that must be shown',
      many: true,
    },
  ])
  if (!said) return undefined
  const claims = Object.entries(said).flatMap(([name, value]) =>
    name.startsWith('claim') && value !== '' ? [[value, '']] : [],
  )
  const body = {
    proofs: [],
    goal: said.goal || undefined,
    credentialFormat: said.format === 'JWT' ? ('JWT' as const) : ('SDJWT' as const),
    ...(claims.length > 0 && { claims: Object.fromEntries(claims) as Record<string, string> }),
  }
  desk.say('Asking …')
  const { connectionId } = partner
  if (connectionId !== null) {
    await desk.call('POST /present-proof/presentations', { body: { ...body, connectionId } })
    desk.goTo('proofs')
    return 'The request is on its way to the prover.'
  }
  const made = await desk.call('POST /present-proof/presentations/invitation', { body })
  await desk.until('the request is in the list', ({ proofs }) =>
    proofs.some(({ presentationId }) => presentationId === made.presentationId),
  )
  desk.goTo('proofs')
  await showRequest(desk, made)
  return 'The invitation is made. The first agent that answers it presents.'
}
