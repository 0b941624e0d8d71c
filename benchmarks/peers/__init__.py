"""What daxy is measured against: plain implementations of the same networks, and the machine."""
