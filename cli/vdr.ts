/** Shared by the `agent vdr` commands: arguments, and the content of an entry. */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import * as Flags from '@oclif/core/flags'
import type { Answer } from './client/api.ts'
import type { Context } from './define-command.ts'
import { argument } from './input/arguments.ts'
import { readBytes } from './input/files.ts'

export const urlArgument = argument('URL of the entry, in quotes because it contains &')
export const contentArgument = argument('the content: @file, @- for standard input, or the text itself')

export const keyFlag = Flags.string({
  description: 'VDR key that signs an entry on the ledger, as `<DID>#<key id>` or a key id; default: vdr-1',
})

type Change = { key: 'POST /vdr/entries' | 'PUT /vdr/entries'; query: Record<string, string | undefined> }

export async function sendEntry(
  { getFileClient }: Pick<Context, 'getFileClient'>,
  { key, query }: Change,
  value: string,
): Promise<Answer<'PUT /vdr/entries'>> {
  const content = readBytes('content', value)
  const file = { content: Readable.from([content], { objectMode: false }), length: content.length }
  return (await getFileClient('tenant').upload(key, { query, ...file })) as Answer<'PUT /vdr/entries'>
}

export async function readEntry(
  { getFileClient }: Pick<Context, 'getFileClient'>,
  url: string,
): Promise<Buffer> {
  return buffer(await getFileClient('tenant').download('GET /vdr/entries', { query: { url } }))
}
