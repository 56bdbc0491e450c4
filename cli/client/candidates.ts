/** Describes the held credentials that answer a request, so that a person can tell them apart. */
import type { Client } from '../../daemon/client/client.ts'
import { claimWords } from '../format/credential.ts'
import type { Candidates, Described } from '../format/proof-request.ts'
import { traitsOf } from '../../src/definitions/format-names.ts'
import { safeLine, shortType } from '../format/text.ts'
import { readNames } from './names.ts'

type Candidate = Candidates['candidates'][number]

/** So many are described; there is no table of more that a person would read. */
const most = 100

export async function describeCandidates(
  call: Client,
  candidates: readonly Candidate[],
): Promise<Described[]> {
  const records = await Promise.all(
    candidates
      .slice(0, most)
      .map(({ recordId }) => call('GET /issue-credentials/records/{recordId}', { path: { recordId } })),
  )
  const names = await readNames(call, records)
  const words = candidates.map(({ claims }, index) => {
    const record = records[index]
    return record ? claimWords(record.claims) : claims
  })
  const [first = [], ...others] = words
  const shared = new Set(first.filter((word) => others.every((each) => each.includes(word))))
  return candidates.map((candidate, index) => {
    const { schemas, credentialFormat } = candidate
    const record = records[index]
    const { credentialName, issuerName } = record?.openid4vci ?? {}
    const type = credentialName ?? (schemas[0] && shortType(schemas.at(-1)!))
    const ofConnection = record?.connectionId === undefined ? undefined : names.get(record.connectionId)
    return {
      ...candidate,
      type: safeLine(type ?? traitsOf(credentialFormat).title),
      issuerName: issuerName ?? ofConnection,
      // Words that all candidates have come last.
      line: safeLine(
        words[index]!.toSorted((a, b) => Number(shared.has(a)) - Number(shared.has(b))).join(' '),
      ),
    }
  })
}
