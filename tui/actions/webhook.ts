/** What can be done with a webhook. */
import type { Webhook } from '../data/data.ts'
import { CommandError } from '../../commands/_errors/usage.ts'
import type { Action, Desk } from './action.ts'
import { copying } from './copying.ts'

export function webhookActions({ id }: Webhook): Action[] {
  return [
    { key: 't', word: 'test', run: (desk) => test(desk, id) },
    { key: 's', word: 'send the dead again', run: (desk) => sendAgain(desk, id) },
    ...copying('id', id),
  ]
}

async function test(desk: Desk, id: string): Promise<string> {
  desk.say('Sending a test event …')
  const { status, error, durationMs } = await desk.call('POST /events/webhooks/{id}/test', { path: { id }, body: {} })
  await desk.store.reloadWebhooks()
  if (error !== undefined) throw new CommandError(`The receiver did not take the test event: ${error}`, 1, 'agent webhook deliveries <id>')
  return `The receiver took the test event, with status ${status} after ${durationMs} ms.`
}

async function sendAgain(desk: Desk, id: string): Promise<string> {
  desk.say('Sending again …')
  const { count } = await desk.call('POST /events/webhooks/{id}/replay', { path: { id }, body: { failed: true } })
  await desk.store.reloadWebhooks()
  return count === 0 ? 'There is none that was given up.' : `${count} ${count === 1 ? 'event is' : 'events are'} sent again.`
}
