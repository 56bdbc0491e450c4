/** Renames the table `outbox` to `job`, its column `lane` to `queue`, and the kind `work` to `task`. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table outbox rename to job`.execute(db)
  await sql`alter table job rename column lane to queue`.execute(db)
  await sql`drop index outbox_lane`.execute(db)
  await sql`create index job_queue on job (queue, sequence)`.execute(db)
  await sql`
    update job
    set kind = 'task',
        body = json_remove(json_set(body, '$.kind', 'task', '$.task', json_extract(body, '$.work')), '$.work')
    where kind = 'work'`.execute(db)
}
