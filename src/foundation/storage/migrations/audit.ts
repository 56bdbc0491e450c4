/** Migrations of `audit.db`, in order. A released migration never changes. */
import { type Migrations, script } from '../migrate.ts'

export const auditMigrations: Migrations = {
  /** The first tables of `audit.db`, as release 0.1.0 created them. */
  '001-init': script(`
create table entry (
  sequence integer primary key, at text not null, actor text not null, entity_id text, key_id text,
  address text, action text not null, wallet_id text, subject text, request_id text, outcome text not null,
  status integer, problem_type text, count integer, previous text not null, digest text not null
);

create table begun (
  id text primary key, at text not null, actor text not null, entity_id text, key_id text, address text,
  action text not null, wallet_id text, subject text, request_id text, mac text not null
)
`),

  /** Names the process of an act that has begun: several processes may write to one audit log. */
  '002-process': script(`
alter table begun add column process text not null default ''
`),

  /** Names the subject of a bearer token whose act it is. */
  '003-login': script(`
alter table entry add column issuer text;
alter table entry add column login text;
alter table begun add column issuer text;
alter table begun add column login text
`),
}
