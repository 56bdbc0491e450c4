/** Actions on webhooks. */
import type { Webhook } from '../data/data.ts'
import type { Action, ActionContext } from './action.ts'
import { CommandError, UsageError } from '../../errors/errors.ts'
import { wrap } from '../session/details.ts'

export const webhookActions: readonly Action<Webhook>[] = [
  { key: 't', word: 'test', run: test },
  { key: 's', word: 'retry failed deliveries', run: retryDeliveries },
  { key: 'e', word: 'edit signing', run: editSigning },
]

async function test(context: ActionContext, { id }: Webhook): Promise<string> {
  context.say('Sending a test event …')
  const { status, error, durationMs } = await context.call('POST /events/webhooks/{id}/test', {
    path: { id },
    body: {},
  })
  await context.store.reloadWebhooks()
  if (error !== undefined) throw new CommandError(`The receiver did not accept the test event: ${error}`, 1)
  return `The receiver accepted the test event with status ${status} after ${durationMs} ms.`
}

async function retryDeliveries(context: ActionContext, { id }: Webhook): Promise<string> {
  context.say('Retrying …')
  const { count } = await context.call('POST /events/webhooks/{id}/replay', {
    path: { id },
    body: { failed: true },
  })
  await context.store.reloadWebhooks()
  return count === 0
    ? 'There are no failed deliveries to retry.'
    : `${count} ${count === 1 ? 'event is' : 'events are'} sent again.`
}

/** Registers a webhook, and shows its signing secret if it has one. */
export async function addWebhook(context: ActionContext): Promise<string | undefined> {
  const values = await context.fill(
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
  if (!values) return undefined
  const webhook = await context.call('POST /events/webhooks', { body: toWebhook(values) })
  await context.store.reloadWebhooks()
  context.goTo('webhooks')
  const { secret } = webhook
  if (secret === undefined) return 'The webhook is added; t sends it a test event.'
  showSecret(context, 'The webhook is added', webhook, secret)
  return undefined
}

function showSecret(
  context: ActionContext,
  title: string,
  webhook: Pick<Webhook, 'id' | 'url'>,
  secret: string,
): void {
  const { id, url } = webhook
  const lines = [`Webhook ${id}`, url, '', 'Its signing secret, which is not shown again:', '', secret]
  context.showPage({
    title,
    rows: (columns) => lines.flatMap((line) => wrap(line, columns - 2)).map((text) => [{ text: ` ${text}` }]),
    copied: secret,
  })
}

/** Creates a new signing secret, or stops signing. The API changes nothing else of a webhook. */
async function editSigning(context: ActionContext, webhook: Webhook): Promise<string | undefined> {
  const path = { id: webhook.id }
  const choice = await context.choose('Sign the events of this webhook?', [
    {
      label: 'Create a new secret',
      ...(webhook.signed && { detail: 'the previous one signs too for some time' }),
      value: 'renew' as const,
    },
    ...(webhook.signed ? [{ label: 'Stop signing', value: 'stop' as const }] : []),
  ])
  if (choice === undefined) return undefined
  if (choice === 'stop') {
    await context.call('DELETE /events/webhooks/{id}/secret', { path })
    await context.store.reloadWebhooks()
    return 'The events are no longer signed.'
  }
  const { secret } = await context.call('POST /events/webhooks/{id}/secret', { path })
  await context.store.reloadWebhooks()
  showSecret(context, 'The webhook has a new secret', webhook, secret)
  return undefined
}

/** Converts the values of the form. @throws {UsageError} */
function toWebhook(values: Readonly<Record<string, string>>) {
  const url = values.url ?? ''
  if (!/^https?:\/\/./.test(url))
    throw new UsageError('URL: give an address that begins with http:// or https://.')
  const headers = Object.entries(values).flatMap(([name, line]) =>
    name.startsWith('header') && line !== '' ? [toHeader(line)] : [],
  )
  return { url, customHeaders: Object.fromEntries(headers), signed: values.signed === 'yes' }
}

function toHeader(line: string): [name: string, value: string] {
  const at = line.indexOf(':')
  if (at < 1) throw new UsageError(`header: “${line}” has no colon; write name: value.`)
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}

export async function removeWebhook(
  context: ActionContext,
  { id, url }: Webhook,
): Promise<string | undefined> {
  const lines = [url, 'Events that were not delivered yet are dropped.']
  if (!(await context.confirm('Delete this webhook? This cannot be undone.', lines))) return undefined
  await context.call('DELETE /events/webhooks/{id}', { path: { id } })
  await context.store.reloadWebhooks()
  return 'The webhook is deleted.'
}
