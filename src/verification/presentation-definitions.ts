/** Presentation definitions (api.md 4.14): a wallet makes and lists its own, and anybody reads one whose id was told. */
import { sql } from 'kysely'
import { randomId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import type { AgentDb } from '../storage/database.ts'
import { assertNotTransferred } from '../storage/transferred.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import { checkFilter } from './filter.ts'
import { PresentationDefinition, type CreatePresentationDefinition } from './presentation-definition.ts'

/** Keeps a definition under a new id. @throws {Problem} 400 for a filter that is no JSON schema, with its path. */
export async function createDefinition(
  db: AgentDb,
  walletId: string,
  content: CreatePresentationDefinition,
): Promise<PresentationDefinition> {
  await checkFilters(content)
  // Whoever knows the id may read it, so nobody is to guess it.
  const definition = { id: randomId(), ...content }
  const row = {
    id: definition.id,
    wallet_id: walletId,
    definition: JSON.stringify(definition),
    created_at: new Date().toISOString(),
  }
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from presentation_definition)`
  await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, walletId)
    await tx
      .insertInto('presentation_definition')
      .values({ ...row, sequence })
      .execute()
  })
  return toDefinition(row)
}

/** The definition with an id, of whichever wallet. @throws {Problem} `NotFound` */
export async function getDefinition(db: AgentDb, id: string): Promise<PresentationDefinition> {
  const row = await db
    .selectFrom('presentation_definition')
    .select('definition')
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw new Problem('NotFound', `There is no presentation definition ${id}.`)
  return toDefinition(row)
}

/** A page of a wallet's definitions in the order of their making, and how many there are in all. */
export async function listDefinitions(
  db: AgentDb,
  walletId: string,
  paging: Paging,
): Promise<{ definitions: PresentationDefinition[]; total: number }> {
  const own = db.selectFrom('presentation_definition').where('wallet_id', '=', walletId)
  const { rows, total } = await pageOf(own.select('definition'), ['sequence'], paging)
  return { definitions: rows.map(toDefinition), total }
}

async function checkFilters({ input_descriptors }: CreatePresentationDefinition): Promise<void> {
  for (const [index, { constraints }] of input_descriptors.entries()) {
    for (const [place, { filter }] of constraints.fields.entries()) {
      if (filter === undefined) continue
      await checkFilter(filter).catch((error: unknown) => {
        if (!(error instanceof Problem) || error.status !== 400) throw error
        const path = `input_descriptors.${index}.constraints.fields.${place}.filter`
        throw new Problem(
          'error:RequestBodyDecodingFailure',
          `${path}: is not a legal JSON schema. ${error.message}`,
          { cause: error },
        )
      })
    }
  }
}

function toDefinition({ definition }: { definition: string }): PresentationDefinition {
  return PresentationDefinition.parse(JSON.parse(definition))
}
