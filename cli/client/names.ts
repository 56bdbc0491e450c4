/** Reads the names of the connections of records, and the labels of the wallet's DIDs. */
import type { Client } from '../../daemon/client/client.ts'
import { type Labels, labelsOf, type Names, namesOf, withLabels } from '../format/parties.ts'
import type { Pair } from '../output.ts'

/** The newest connections and DIDs are read; others are shown by their ids. */
const query = { limit: 1_000, offset: 0, order: 'desc' } as const

/** Returns the names of the connections. Asks for nothing if no record has one. */
export async function readNames(
  call: Client,
  records: readonly { connectionId?: string | undefined }[],
): Promise<Names> {
  if (records.every(({ connectionId }) => connectionId === undefined)) return new Map()
  const { contents } = await call('GET /connections', { query })
  return namesOf(contents)
}

/** Returns the labels of the wallet's DIDs. Asks for nothing if none of the texts is a DID. */
export async function readLabels(call: Client, texts: readonly unknown[]): Promise<Labels> {
  if (!texts.some((text) => typeof text === 'string' && text.startsWith('did:'))) return new Map()
  const { contents } = await call('GET /did-registrar/dids', { query })
  return labelsOf(contents)
}

/** Returns fields in which the labels of the wallet's DIDs are before them, if a person reads the fields. */
export async function labelled(
  { call, isJson, isQuiet }: { call: Client; isJson: boolean; isQuiet: boolean },
  pairs: readonly Pair[],
): Promise<readonly Pair[]> {
  if (isJson || isQuiet) return pairs
  return withLabels(
    pairs,
    await readLabels(
      call,
      pairs.map(([, value]) => value),
    ),
  )
}
