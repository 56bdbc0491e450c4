/** Actions on webhooks and events. */
import type { Event, Webhook } from '../data/data.ts'
import { copying, tracing, type Action, type Desk } from './action.ts'
import { threadOf } from '../panes/pane.ts'
import { CommandError, UsageError } from '../../errors/errors.ts'
import { wrap } from '../session/details.ts'

export function eventActions(event: Event): Action[] {
  return [...tracing(threadOf(event)), ...copying('id', event.id)]
}

export function webhookActions(webhook: Webhook): Action[] {
  const { id } = webhook
  return [
    { key: 't', word: 'test', run: (desk) => test(desk, id) },
    { key: 's', word: 'retry failed deliveries', run: (desk) => sendAgain(desk, id) },
    { key: 'd', word: 'delete', run: (desk) => remove(desk, webhook) },
    ...copying('id', id),
  ]
}

async function test(desk: Desk, id: string): Promise<string> {
  desk.say('Sending a test event …')
  const { status, error, durationMs } = await desk.call('POST /events/webhooks/{id}/test', {
    path: { id },
    body: {},
  })
  await desk.store.reloadWebhooks()
  if (error !== undefined)
    throw new CommandError(
      `The receiver did not accept the test event: ${error}`,
      1,
      'agent webhook deliveries <id>',
    )
  return `The receiver accepted the test event with status ${status} after ${durationMs} ms.`
}

async function sendAgain(desk: Desk, id: string): Promise<string> {
  desk.say('Retrying …')
  const { count } = await desk.call('POST /events/webhooks/{id}/replay', {
    path: { id },
    body: { failed: true },
  })
  await desk.store.reloadWebhooks()
  return count === 0
    ? 'There are no failed deliveries to retry.'
    : `${count} ${count === 1 ? 'event is' : 'events are'} sent again.`
}

/** Registers a webhook, and shows its signing secret if it has one. */
export async function addWebhook(desk: Desk): Promise<string | undefined> {
  const said = await desk.fill(
    'Add a webhook for this wallet’s events',
    [
      { name: 'url', label: 'URL', value: '', hint: 'http(s) URL that events are posted to' },
      { name: 'signed', label: 'signed', value: 'no', words: ['no', 'yes'] },
      {
        name: 'header',
        label: 'header',
        value: '',
        hint: 'optional, sent with every event: name: value',
        many: true,
      },
    ],
    { check: toWebhook },
  )
  if (!said) return undefined
  const { id, url, secret } = await desk.call('POST /events/webhooks', { body: toWebhook(said) })
  await desk.store.reloadWebhooks()
  desk.goTo('webhooks')
  if (secret === undefined) return 'The webhook is added; t sends it a test event.'
  const lines = [`Webhook ${id}`, url, '', 'Its signing secret, which is not shown again:', '', secret]
  desk.showPage({
    title: 'The webhook is added',
    rows: (columns) => lines.flatMap((line) => wrap(line, columns - 2)).map((text) => [{ text: ` ${text}` }]),
    copied: secret,
  })
  return undefined
}

/** Converts the values of the form. @throws {UsageError} */
function toWebhook(said: Readonly<Record<string, string>>) {
  const url = said.url ?? ''
  if (!/^https?:\/\/./.test(url))
    throw new UsageError('URL: give an address that begins with http:// or https://.')
  const headers = Object.entries(said).flatMap(([name, line]) =>
    name.startsWith('header') && line !== '' ? [toHeader(line)] : [],
  )
  return { url, customHeaders: Object.fromEntries(headers), signed: said.signed === 'yes' }
}

function toHeader(line: string): [name: string, value: string] {
  const at = line.indexOf(':')
  if (at < 1) throw new UsageError(`header: “${line}” has no colon; write name: value.`)
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}

async function remove(desk: Desk, { id, url }: Webhook): Promise<string | undefined> {
  const lines = [url, 'Events that were not delivered yet are dropped.']
  if (!(await desk.confirm('Delete this webhook? This cannot be undone.', lines))) return undefined
  await desk.call('DELETE /events/webhooks/{id}', { path: { id } })
  await desk.store.reloadWebhooks()
  return 'The webhook is deleted.'
}
