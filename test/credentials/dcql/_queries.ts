/** Queries of the specification (`fixtures/openid/dcql`). */
import { readFile } from 'node:fs/promises'
import { DcqlQuery } from '../../../src/credentials/dcql/query.ts'

export async function readQuery(name: string): Promise<unknown> {
  const url = new URL(`../../../fixtures/openid/dcql/${name}`, import.meta.url)
  return JSON.parse(await readFile(url, 'utf8'))
}

export const queryOf = async (name: string) => DcqlQuery.parse(await readQuery(`${name}.json`))
