"""Reports: from run folders and the ledger to tables; nothing here trains or holds live objects."""
