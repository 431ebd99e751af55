-- An owner's signature that no longer fits what would be sent is replaced by a new one of the same owner.
GRANT UPDATE (signature, created_at) ON escrow_signatures TO causeway_partner, causeway_customer, causeway_vendor;
