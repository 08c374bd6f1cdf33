import type { Database } from "./database.ts";
import type { Transaction } from "./group-commit.ts";

/** SQLite's transactions as the group commit uses them. */
export function transactionOf(database: Database): Transaction {
  return {
    begin: () => database.begin(),
    commit: () => database.commit(),
    rollback: () => database.run("ROLLBACK"),
    savepoint: () => database.run("SAVEPOINT piece"),
    release: () => database.run("RELEASE piece"),
    undo: () => {
      database.run("ROLLBACK TO piece");
      database.run("RELEASE piece");
    },
    get isOpen() {
      return database.inTransaction;
    },
  };
}
