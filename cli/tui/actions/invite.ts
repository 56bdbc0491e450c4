/** Inviting somebody to connect. */
import type { Desk } from './action.ts'
import { showInvitation } from './connection.ts'

export async function invite(desk: Desk): Promise<string | undefined> {
  const said = await desk.fill('Invite someone to connect', [
    { name: 'label', label: 'label', value: '', hint: 'your name for the connection; it is not sent' },
    { name: 'goal', label: 'goal', value: '', hint: 'its purpose, which the other side sees' },
  ])
  if (!said) return undefined
  desk.say('Making the invitation …')
  const body = { label: said.label || undefined, goal: said.goal || undefined }
  const made = await desk.call('POST /connections', { body })
  await desk.until('the invitation is in the list', ({ connections }) =>
    connections.some((each) => each.connectionId === made.connectionId),
  )
  desk.goTo('connections')
  await showInvitation(desk, made)
  return 'The invitation is made. Its state changes when it is accepted.'
}
