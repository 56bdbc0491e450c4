/** Migrations of `mediator.db`, in order. A released migration never changes. */
import { type Migrations, script } from '../migrate.ts'

export const mediatorMigrations: Migrations = {
  /** The first tables of `mediator.db`, as release 0.1.0 created them. */
  '001-init': script(`
create table identity (
  did text primary key, url text not null unique, keys text not null, created_at text not null
);

create table account (did text primary key, created_at text not null, seen_at text not null);

create table recipient (
  did text primary key, account text not null references account (did) on delete cascade,
  created_at text not null
);
create index recipient_account on recipient (account, created_at, did);

create table message (
  sequence integer primary key, id text not null, recipient text not null,
  account text not null references account (did), envelope text not null, bytes integer not null,
  received_at text not null
);
create index message_queue on message (account, recipient, received_at, bytes);
create unique index message_id on message (account, id, recipient);
create index message_age on message (received_at);

create table seen (sequence integer primary key, digest text not null unique)
`),
}
